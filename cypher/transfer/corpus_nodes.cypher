// transfer.corpusNodes(name :: STRING) :: (rank :: INT, key :: STRING, node :: STRING)
// All nodes of a corpus but its own, each with its place among the kinds, what orders it within its
// kind, and its element id; each kind is found by an index or from what it hangs on.
// mode: READ
CALL () {
  MATCH (n:Document {corpus: $name}) RETURN 0 AS rank, n.id AS key, n
  UNION ALL
  MATCH (n:Table {corpus: $name}) RETURN 1 AS rank, n.id AS key, n
  UNION ALL
  MATCH (n:Page {corpus: $name}) RETURN 2 AS rank, n.id AS key, n
  UNION ALL
  MATCH (:Document {corpus: $name})-[:HAS_SECTION]->(n:Section) RETURN 3 AS rank, n.id AS key, n
  UNION ALL
  MATCH (n:Passage {corpus: $name}) RETURN 4 AS rank, n.id AS key, n
  UNION ALL
  MATCH (:Table {corpus: $name})-[:HAS_COLUMN]->(n:Column) RETURN 5 AS rank, n.id AS key, n
  UNION ALL
  MATCH (:Table {corpus: $name})-[:HAS_ROW]->(n:Row) RETURN 6 AS rank, n.id AS key, n
  UNION ALL
  MATCH (:Table {corpus: $name})-[:HAS_ROW]->(:Row)-[:HAS_CELL]->(n:Cell)
  RETURN 7 AS rank, n.id AS key, n
  UNION ALL
  MATCH (n:Keyword {corpus: $name}) WHERE n.text >= '' RETURN 8 AS rank, n.text AS key, n
  UNION ALL
  MATCH (n:NamedEntity {corpus: $name}) WHERE n.name >= '' RETURN 9 AS rank, n.name AS key, n
  UNION ALL
  MATCH (n:Question {corpus: $name}) RETURN 10 AS rank, n.id AS key, n
  UNION ALL
  MATCH (:Corpus {name: $name})-[:HAS_GRAPH]->(n:Graph) RETURN 11 AS rank, n.type AS key, n
}
RETURN rank, key, elementId(n) AS node
