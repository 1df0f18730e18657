// structure.outline(documents :: LIST OF STRING) :: (id :: STRING, document :: STRING, order :: INT, number :: STRING, name :: STRING, caption :: STRING, pages :: LIST OF INT, rows :: INT, columns :: LIST OF MAP)
// The tables of some documents in their order, with their columns but without their rows.
// mode: READ
MATCH (d:Document)-[:HAS_TABLE]->(t:Table)
WHERE d.id IN $documents
CALL (t) {
  OPTIONAL MATCH (t)-[:HAS_COLUMN]->(c:Column)
  WITH c ORDER BY c.order
  RETURN collect(c {.order, .header, .norm, .type}) AS columns
}
RETURN t.id AS id, d.id AS document, t.order AS order, t.label AS number, t.name AS name,
       t.caption AS caption, t.pageNumbers AS pages, t.rows AS rows, columns
ORDER BY d.title, d.id, order
