// connect.texts(ids :: LIST OF STRING) :: (id :: STRING, title :: STRING, text :: STRING)
// The texts of passages, each with the title of its document.
// mode: READ
MATCH (d:Document)-[:HAS_PASSAGE]->(p:Passage)
WHERE p.id IN $ids
RETURN p.id AS id, d.title AS title, p.text AS text
