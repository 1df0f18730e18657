// inspect.corpus_tables(corpus :: STRING, document = null :: STRING) :: (id :: STRING, document :: STRING, name :: STRING, caption :: STRING, pages :: LIST OF INT, rows :: INT, columns :: LIST OF STRING)
// The tables of a corpus, or of its documents with this id, title or source, in their order.
// mode: READ
MATCH (d:Document {corpus: $corpus})
WHERE $document IS NULL OR $document IN [d.id, d.title, d.source]
MATCH (d)-[:HAS_TABLE]->(t:Table)
CALL (t) {
  MATCH (t)-[:HAS_COLUMN]->(c:Column)
  WITH c ORDER BY c.order
  RETURN collect(c.header) AS columns
}
RETURN t.id AS id, d.id AS document, t.name AS name, t.caption AS caption, t.pageNumbers AS pages,
       t.rows AS rows, columns
ORDER BY d.title, document, t.order
