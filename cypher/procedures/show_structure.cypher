// kgp.showStructure(nodes :: LIST OF STRING) :: (document :: NODE, page :: NODE, edge :: RELATIONSHIP, part :: NODE)
// Tables, pages or documents (by id) as a graph: a document's pages with their passages and tables,
// or a table with its columns and first rows.
// mode: READ
// example: MATCH (t:Table {corpus: 'demo'}) WITH collect(t.id) AS ids CALL custom.kgp.showStructure(ids) YIELD document, page, edge, part RETURN document, page, edge, part
CALL () {
  MATCH (document:Document)
  WHERE document.id IN $nodes
  OPTIONAL MATCH (document)-[:HAS_PAGE]->(page:Page)
  OPTIONAL MATCH (page)-[edge:HAS_PASSAGE|HAS_TABLE]->(part)
  RETURN document, page, edge, part
  UNION
  MATCH (page:Page)<-[:HAS_PAGE]-(document:Document)
  WHERE page.id IN $nodes
  OPTIONAL MATCH (page)-[edge:HAS_PASSAGE|HAS_TABLE]->(part)
  RETURN document, page, edge, part
  UNION
  MATCH (table:Table)<-[:HAS_TABLE]-(document:Document)
  WHERE table.id IN $nodes
  OPTIONAL MATCH (page:Page)-[edge:HAS_TABLE]->(table)
  RETURN document, page, edge, table AS part
  UNION
  MATCH (table:Table)<-[:HAS_TABLE]-(document:Document)
  WHERE table.id IN $nodes
  MATCH (table)-[edge:HAS_COLUMN]->(part:Column)
  RETURN document, null AS page, edge, part
  UNION
  MATCH (table:Table)<-[:HAS_TABLE]-(document:Document)
  WHERE table.id IN $nodes
  MATCH (table)-[edge:HAS_ROW]->(part:Row)
  WHERE 1 <= part.number <= 5
  RETURN document, null AS page, edge, part
  UNION
  MATCH (table:Table)<-[:HAS_TABLE]-(document:Document)
  WHERE table.id IN $nodes
  MATCH (table)-[:HAS_ROW]->(row:Row)
  WHERE 1 <= row.number <= 5
  MATCH (row)-[edge:HAS_CELL]->(part:Cell)
  RETURN document, null AS page, edge, part
}
RETURN document, page, edge, part
