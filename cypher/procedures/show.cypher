// kgp.show(nodes :: LIST OF ANY) :: (node :: NODE, edge :: RELATIONSHIP, other :: NODE)
// Nodes (or their ids) as a graph, edge by edge: passages with their documents and the edges between
// them, entities with what joins them, documents with their pages and what is on these, pages likewise,
// tables with their columns and first rows.
// mode: READ
// example: MATCH (p:Passage {corpus: 'demo'}) WITH collect(p)[..5] AS passages CALL custom.kgp.show(passages) YIELD node, edge, other RETURN node, edge, other
WITH [one IN $nodes | coalesce(apoc.any.property(one, 'id'), one)] AS ids
CALL (ids) {
  MATCH (other:Passage) WHERE other.id IN ids
  MATCH (node:Document)-[edge:HAS_PASSAGE]->(other)
  RETURN node, edge, other
  UNION
  MATCH (node:Passage) WHERE node.id IN ids
  MATCH (node)-[edge:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]->(other:Passage)
  WHERE other.id IN ids
  RETURN node, edge, other
  UNION
  MATCH (node:Entity) WHERE node.id IN ids
  OPTIONAL MATCH (node)-[edge]->(other:Entity)
  WHERE other.id IN ids
  RETURN node, edge, other
  UNION
  MATCH (node:Document) WHERE node.id IN ids
  OPTIONAL MATCH (node)-[edge:HAS_PAGE]->(other:Page)
  RETURN node, edge, other
  UNION
  MATCH (document:Document) WHERE document.id IN ids
  MATCH (document)-[:HAS_PAGE]->(node:Page)-[edge:HAS_PASSAGE|HAS_TABLE]->(other)
  RETURN node, edge, other
  UNION
  MATCH (other:Page) WHERE other.id IN ids
  MATCH (node:Document)-[edge:HAS_PAGE]->(other)
  RETURN node, edge, other
  UNION
  MATCH (node:Page) WHERE node.id IN ids
  MATCH (node)-[edge:HAS_PASSAGE|HAS_TABLE]->(other)
  RETURN node, edge, other
  UNION
  MATCH (other:Table) WHERE other.id IN ids
  MATCH (node:Document|Page)-[edge:HAS_TABLE]->(other)
  RETURN node, edge, other
  UNION
  MATCH (node:Table) WHERE node.id IN ids
  MATCH (node)-[edge:HAS_COLUMN]->(other:Column)
  RETURN node, edge, other
  UNION
  MATCH (node:Table) WHERE node.id IN ids
  MATCH (node)-[edge:HAS_ROW]->(other:Row)
  WHERE 1 <= other.number <= 5
  RETURN node, edge, other
  UNION
  MATCH (table:Table) WHERE table.id IN ids
  MATCH (table)-[:HAS_ROW]->(node:Row)
  WHERE 1 <= node.number <= 5
  MATCH (node)-[edge:HAS_CELL]->(other:Cell)
  RETURN node, edge, other
}
RETURN node, edge, other
