// transfer.listing(corpus = null :: STRING, graph = null :: STRING) :: (rank :: INT, key :: STRING, node :: STRING)
// All nodes of a corpus but its own, or all entities of a knowledge graph: each with its place among the
// kinds, what orders it within its kind, and its element id. Each kind is found by an index or from what
// it hangs on.
// mode: READ
CALL () {
  MATCH (n:Document {corpus: $corpus}) RETURN 0 AS rank, n.id AS key, n
  UNION ALL
  MATCH (n:Table {corpus: $corpus}) RETURN 1 AS rank, n.id AS key, n
  UNION ALL
  MATCH (n:Page {corpus: $corpus}) RETURN 2 AS rank, n.id AS key, n
  UNION ALL
  MATCH (:Document {corpus: $corpus})-[:HAS_SECTION|HAS_SOURCE]->(n) RETURN 3 AS rank, n.id AS key, n
  UNION ALL
  MATCH (n:Passage {corpus: $corpus}) RETURN 4 AS rank, n.id AS key, n
  UNION ALL
  MATCH (:Table {corpus: $corpus})-[:HAS_COLUMN]->(n:Column) RETURN 5 AS rank, n.id AS key, n
  UNION ALL
  MATCH (:Table {corpus: $corpus})-[:HAS_ROW]->(n:Row) RETURN 6 AS rank, n.id AS key, n
  UNION ALL
  MATCH (:Table {corpus: $corpus})-[:HAS_ROW]->(:Row)-[:HAS_CELL]->(n:Cell)
  RETURN 7 AS rank, n.id AS key, n
  UNION ALL
  MATCH (n:Keyword {corpus: $corpus}) WHERE n.text >= '' RETURN 8 AS rank, n.text AS key, n
  UNION ALL
  MATCH (n:NamedEntity {corpus: $corpus}) WHERE n.name >= '' RETURN 9 AS rank, n.name AS key, n
  UNION ALL
  MATCH (n:Question {corpus: $corpus}) RETURN 10 AS rank, n.id AS key, n
  UNION ALL
  MATCH (:Corpus {name: $corpus})-[:HAS_GRAPH]->(n:Graph) RETURN 11 AS rank, n.type AS key, n
  UNION ALL
  MATCH (n:Entity {graph: $graph}) WHERE n.key IS NOT NULL RETURN 12 AS rank, n.key AS key, n
}
RETURN rank, key, elementId(n) AS node
