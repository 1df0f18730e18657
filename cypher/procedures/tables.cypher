// kgp.tables(document :: STRING, corpus :: STRING) :: (table :: NODE, name :: STRING, caption :: STRING, pageNumbers :: LIST OF INT, rows :: INT, columns :: LIST OF STRING)
// The tables of a document given by its id, title or source, in their order.
// mode: READ
// task: pages and tables
// check: corpus, document
// example: MATCH (d:Document {corpus: 'demo'})-[:HAS_TABLE]->() WITH d.title AS title LIMIT 1 CALL custom.kgp.tables(title, 'demo') YIELD table, name, caption, pageNumbers, rows, columns RETURN table, name, caption, pageNumbers, rows, columns
MATCH (c:Corpus {name: $corpus})
// include: document
MATCH (d)-[:HAS_TABLE]->(table:Table)
CALL (table) {
  MATCH (table)-[:HAS_COLUMN]->(c:Column)
  WITH c ORDER BY c.order
  RETURN collect(c.title) AS columns
}
RETURN table, table.name AS name, table.caption AS caption, table.pageNumbers AS pageNumbers,
       table.rows AS rows, columns
ORDER BY table.document, table.order
