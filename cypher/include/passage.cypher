// Returns a passage `p` of the document `d`, with the names of the columns of the table that it goes on
// from a passage before, whether its page's text was recognised on a picture, and, as `apart`, the shortest
// end of its source's path that no other document of its corpus with the same title has; empty where there
// is no such other.
CALL (d) {
  OPTIONAL MATCH (other:Document {corpus: d.corpus, title: d.title})
  WHERE other.source <> d.source
  WITH split(d.source, '/') AS parts, collect('/' + other.source) AS others
  WITH others, [n IN CASE others WHEN [] THEN [] ELSE range(1, size(parts)) END |
    reduce(path = '', part IN parts[-n..] | path + '/' + part)] AS ends
  RETURN coalesce(substring(head([end IN ends WHERE none(other IN others WHERE other ENDS WITH end)] + ends[-1..]), 1), '') AS apart
}
RETURN p.id AS id, d.id AS document, d.title AS title, apart, p.position AS position,
       p.start AS start, p.end AS end, p.text AS text, d.source AS source, p.page AS page,
       coalesce(p.section, '') AS section,
       p.page IS NOT NULL AND EXISTS { (p)<-[:HAS_PASSAGE]-(:Page {recognised: true}) } AS recognised,
       CASE coalesce(d.tables, 0) WHEN 0 THEN [] ELSE COLLECT {
         MATCH (p)<-[:HAS_PASSAGE]-(:Document|Page)-[:HAS_TABLE]->(t:Table)-[:HAS_COLUMN]->(c:Column)
         WHERE t.start < p.start AND p.start < t.end
         RETURN c.header ORDER BY t.start, c.order
       } END AS columns
