// inspect.passages(ids :: LIST OF STRING) :: (id :: STRING, document :: STRING, title :: STRING, position :: INT, start :: INT, end :: INT, text :: STRING, source :: STRING, page :: INT, section :: STRING, columns :: LIST OF STRING)
// Passages by id, each with the title and source of its document.
// mode: READ
MATCH (d:Document)-[:HAS_PASSAGE]->(p:Passage)
WHERE p.id IN $ids
RETURN p.id AS id, d.id AS document, d.title AS title, p.position AS position,
       p.start AS start, p.end AS end, p.text AS text, d.source AS source, p.page AS page,
       coalesce(p.section, '') AS section,
       CASE coalesce(d.tables, 0) WHEN 0 THEN [] ELSE COLLECT {
         MATCH (p)<-[:HAS_PASSAGE]-(:Document|Page)-[:HAS_TABLE]->(t:Table)-[:HAS_COLUMN]->(c:Column)
         WHERE t.start < p.start AND p.start < t.end
         RETURN c.header ORDER BY t.start, c.order
       } END AS columns
