// kgp.table(document :: STRING, number :: STRING, corpus :: STRING) :: (row :: INT, page :: INT, cells :: LIST OF STRING)
// A table as rows, header rows (numbered 0 and less) first: the table with that printed number, or,
// where none has it, the one at that place in the document.
// mode: READ
// example: MATCH (d:Document {corpus: 'demo'})-[:HAS_TABLE]->(t) WITH d, t LIMIT 1 CALL custom.kgp.table(d.title, toString(t.order), 'demo') YIELD row, page, cells RETURN row, page, cells
MATCH (d:Document {corpus: $corpus})
WHERE $document IN [d.id, d.title, d.source] OR toLower(d.title) = toLower($document)
CALL (d) {
  MATCH (d)-[:HAS_TABLE]->(t:Table)
  WITH t, toLower(t.number) = toLower($number) AS printed
  WHERE printed OR toString(t.order) = $number
  RETURN t ORDER BY printed DESC, t.order LIMIT 1
}
MATCH (t)-[:HAS_ROW]->(r:Row)-[:HAS_CELL]->(c:Cell)
WITH t, r, c ORDER BY t.document, r.order, c.column
WITH t, r, collect(c.text) AS cells
RETURN r.number AS row, r.page AS page, cells
ORDER BY t.document, r.order
