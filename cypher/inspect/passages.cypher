// inspect.passages(ids :: LIST OF STRING) :: (id :: STRING, document :: STRING, title :: STRING, position :: INT, start :: INT, end :: INT, text :: STRING, source :: STRING, page :: INT, section :: STRING)
// Passages by id, each with the title and source of its document.
// mode: READ
MATCH (d:Document)-[:HAS_PASSAGE]->(p:Passage)
WHERE p.id IN $ids
RETURN p.id AS id, d.id AS document, d.title AS title, p.position AS position,
       p.start AS start, p.end AS end, p.text AS text, d.source AS source, p.page AS page,
       coalesce(p.section, '') AS section
