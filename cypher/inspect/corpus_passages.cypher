// inspect.corpus_passages(corpus :: STRING, document = null :: STRING, limit = 1000 :: INT) :: (id :: STRING, document :: STRING, title :: STRING, position :: INT, start :: INT, end :: INT, text :: STRING, source :: STRING, page :: INT, section :: STRING, columns :: LIST OF STRING)
// The passages of a corpus, or of its documents with this id, title or source, in their order.
// mode: READ
MATCH (d:Document {corpus: $corpus})
WHERE $document IS NULL OR $document IN [d.id, d.title, d.source]
MATCH (d)-[:HAS_PASSAGE]->(p:Passage)
RETURN p.id AS id, d.id AS document, d.title AS title, p.position AS position,
       p.start AS start, p.end AS end, p.text AS text, d.source AS source, p.page AS page,
       coalesce(p.section, '') AS section,
       CASE coalesce(d.tables, 0) WHEN 0 THEN [] ELSE COLLECT {
         MATCH (p)<-[:HAS_PASSAGE]-(:Document|Page)-[:HAS_TABLE]->(t:Table)-[:HAS_COLUMN]->(c:Column)
         WHERE t.start < p.start AND p.start < t.end
         RETURN c.header ORDER BY t.start, c.order
       } END AS columns
ORDER BY title, document, position
LIMIT $limit
