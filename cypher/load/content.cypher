// load.content(corpus :: STRING) :: (documents :: INT, passages :: INT, characters :: INT, pages :: INT, tables :: INT, cells :: INT)
// What is stored of a corpus, counted.
// mode: READ
CALL () {
  MATCH (p:Passage {corpus: $corpus})
  RETURN count(p) AS passages, coalesce(sum(size(p.text)), 0) AS characters
}
CALL () {
  MATCH (t:Table {corpus: $corpus})
  RETURN count(t) AS tables, coalesce(sum(COUNT { (t)-[:HAS_ROW]->()-[:HAS_CELL]->() }), 0) AS cells
}
RETURN COUNT { MATCH (:Document {corpus: $corpus}) } AS documents, passages, characters,
       COUNT { MATCH (:Page {corpus: $corpus}) } AS pages, tables, cells
