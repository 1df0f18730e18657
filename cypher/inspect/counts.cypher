// inspect.counts() :: (nodes :: INT, relationships :: INT)
// All nodes and relationships of the database, counted at once from its own books.
// mode: READ
CALL () {
  MATCH (n) RETURN count(n) AS nodes
}
CALL () {
  MATCH ()-[r]->() RETURN count(r) AS relationships
}
RETURN nodes, relationships
