// kgp.show(nodes :: LIST OF ANY) :: (node :: NODE, edge :: RELATIONSHIP, neighbour :: NODE)
// Nodes (or their ids) as a graph, edge by edge: passages with their documents and the edges between
// them, entities with what joins them, documents with their pages and what is on these, pages likewise,
// tables with their columns and first rows.
// mode: READ
// task: see
// example: MATCH (p:Passage {corpus: 'demo'}) WITH collect(p)[..5] AS passages CALL custom.kgp.show(passages) YIELD node, edge, neighbour RETURN node, edge, neighbour
WITH $nodes AS ids
CALL (ids) {
  MATCH (neighbour:Passage) WHERE neighbour.id IN ids
  MATCH (node:Document)-[edge:HAS_PASSAGE]->(neighbour)
  RETURN node, edge, neighbour
  UNION
  MATCH (node:Passage) WHERE node.id IN ids
  MATCH (node)-[edge:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]->(neighbour:Passage)
  WHERE neighbour.id IN ids
  RETURN node, edge, neighbour
  UNION
  MATCH (node:Entity) WHERE node.id IN ids
  OPTIONAL MATCH (node)-[edge]->(neighbour:Entity)
  WHERE neighbour.id IN ids
  RETURN node, edge, neighbour
  UNION
  MATCH (node:Document) WHERE node.id IN ids
  OPTIONAL MATCH (node)-[edge:HAS_PAGE]->(neighbour:Page)
  RETURN node, edge, neighbour
  UNION
  MATCH (document:Document) WHERE document.id IN ids
  MATCH (document)-[:HAS_PAGE]->(node:Page)-[edge:HAS_PASSAGE|HAS_TABLE]->(neighbour)
  RETURN node, edge, neighbour
  UNION
  MATCH (neighbour:Page) WHERE neighbour.id IN ids
  MATCH (node:Document)-[edge:HAS_PAGE]->(neighbour)
  RETURN node, edge, neighbour
  UNION
  MATCH (node:Page) WHERE node.id IN ids
  MATCH (node)-[edge:HAS_PASSAGE|HAS_TABLE]->(neighbour)
  RETURN node, edge, neighbour
  UNION
  MATCH (neighbour:Table) WHERE neighbour.id IN ids
  MATCH (node:Document|Page)-[edge:HAS_TABLE]->(neighbour)
  RETURN node, edge, neighbour
  UNION
  MATCH (node:Table) WHERE node.id IN ids
  MATCH (node)-[edge:HAS_COLUMN]->(neighbour:Column)
  RETURN node, edge, neighbour
  UNION
  MATCH (node:Table) WHERE node.id IN ids
  MATCH (node)-[edge:HAS_ROW]->(neighbour:Row)
  WHERE 1 <= neighbour.number <= 5
  RETURN node, edge, neighbour
  UNION
  MATCH (table:Table) WHERE table.id IN ids
  MATCH (table)-[:HAS_ROW]->(node:Row)
  WHERE 1 <= node.number <= 5
  MATCH (node)-[edge:HAS_CELL]->(neighbour:Cell)
  RETURN node, edge, neighbour
}
RETURN node, edge, neighbour
