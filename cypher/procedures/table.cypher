// kgp.table(document :: STRING, number :: STRING, corpus :: STRING) :: (number :: INT, pageNumber :: INT, cells :: LIST OF STRING)
// A table as rows, header rows (numbered 0 and less) first: the table with that printed number, or,
// where none has it, the one at that place in the document.
// mode: READ
// task: pages and tables
// check: corpus, document, table_number
// example: MATCH (d:Document {corpus: 'demo'})-[:HAS_TABLE]->(t) WITH d, t LIMIT 1 CALL custom.kgp.table(d.title, toString(t.order), 'demo') YIELD number, pageNumber, cells RETURN number, pageNumber, cells
MATCH (c:Corpus {name: $corpus})
// include: document
CALL (d) {
  MATCH (d)-[:HAS_TABLE]->(t:Table)
  WITH t, toLower(t.label) = toLower($number) AS printed
  WHERE printed OR toString(t.order) = $number
  RETURN t ORDER BY printed DESC, t.order LIMIT 1
}
MATCH (t)-[:HAS_ROW]->(r:Row)-[:HAS_CELL]->(cell:Cell)
WITH t, r, cell ORDER BY t.document, r.order, cell.column
WITH t, r, collect(cell.text) AS cells
RETURN r.number AS number, r.page AS pageNumber, cells
ORDER BY t.document, r.order
