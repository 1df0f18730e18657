// Returns a passage `p` of the document `d`, with the names of the columns of the table that it goes on
// from a passage before, and whether its page's text was recognised on a picture.
// include: apart
RETURN p.id AS id, d.id AS document, d.title AS title, apart, p.position AS position,
       p.start AS start, p.end AS end, p.text AS text, d.source AS source, p.page AS page,
       coalesce(p.section, '') AS section,
       p.page IS NOT NULL AND EXISTS { (p)<-[:HAS_PASSAGE]-(:Page {recognised: true}) } AS recognised,
       CASE coalesce(d.tables, 0) WHEN 0 THEN [] ELSE COLLECT {
         MATCH (p)<-[:HAS_PASSAGE]-(:Document|Page)-[:HAS_TABLE]->(t:Table)-[:HAS_COLUMN]->(c:Column)
         WHERE t.start < p.start AND p.start < t.end
         RETURN c.header ORDER BY t.start, c.order
       } END AS columns
