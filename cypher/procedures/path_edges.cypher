// kgp.pathEdges(pairs :: LIST OF ANY, edges = null :: LIST OF STRING) :: (source :: STRING, target :: STRING, edge :: STRING, reason :: STRING)
// The edge that says most about each pair of passages [from, to], and what they share. Passages without
// an edge that mention the same entity are joined by MENTIONS.
// mode: READ
// example: MATCH (p:Passage {corpus: 'demo'})-[:SIMILAR_ST]->(q) WITH p.id AS a, q.id AS b LIMIT 1 CALL custom.kgp.pathEdges([[a, b]]) YIELD edge, reason RETURN edge, reason
UNWIND $pairs AS pair
MATCH (p:Passage {id: pair[0]})
MATCH (q:Passage {id: pair[1]})
CALL (p, q) {
  MATCH (p)-[e:SHARES_ENTITY|SHARES_KEYWORD|SIMILAR_ST|SIMILAR_MDR|NEXT]-(q)
  WHERE size(coalesce($edges, [])) = 0 OR type(e) IN $edges
  RETURN type(e) AS edge,
         CASE WHEN e.namesTitle THEN 0 WHEN type(e) STARTS WITH 'SHARES' THEN 1 ELSE 2 END AS order,
         CASE type(e)
           WHEN 'SHARES_KEYWORD' THEN apoc.text.join(e.keywords[..3], ', ')
           WHEN 'SHARES_ENTITY' THEN apoc.text.join(e.entities[..3], ', ')
           WHEN 'NEXT' THEN 'next in the document'
           ELSE 'cosine ' + toString(round(2 * e.score - 1, 2)) END AS reason
  ORDER BY order, type(e)
  LIMIT 1
  UNION ALL
  MATCH (p)-[:MENTIONS]->(x)<-[:MENTIONS]-(q)
  WITH x, COUNT { (x)<-[:MENTIONS]-() } AS frequency
  ORDER BY frequency, x.title
  LIMIT 3
  WITH collect(x.title) AS shared
  WHERE size(shared) > 0
  RETURN 'MENTIONS' AS edge, 3 AS order, apoc.text.join(shared, ', ') AS reason
}
WITH pair, edge, reason, order
ORDER BY order
WITH pair, collect({edge: edge, reason: reason})[0] AS best
RETURN pair[0] AS source, pair[1] AS target, best.edge AS edge, best.reason AS reason
ORDER BY source, target
