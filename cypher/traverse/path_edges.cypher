// traverse.pathEdges(pairs :: LIST OF ANY, edges = [] :: LIST OF STRING) :: (source :: STRING, target :: STRING, edge :: STRING, reason :: STRING)
// The edge that says most about each pair of passages [from, to], and what they share. Passages without
// an edge that mention the same entity are joined by MENTIONS.
// mode: READ
UNWIND $pairs AS pair
MATCH (p:Passage {id: pair[0]})
MATCH (q:Passage {id: pair[1]})
CALL (p, q) {
  MATCH (p)-[e:SHARES_ENTITY|SHARES_KEYWORD|SIMILAR_ST|SIMILAR_MDR|NEXT]-(q)
  WHERE size($edges) = 0 OR type(e) IN $edges
  WITH e
  ORDER BY CASE WHEN e.namesTitle THEN 0 WHEN type(e) STARTS WITH 'SHARES' THEN 1 ELSE 2 END, type(e)
  LIMIT 1
  RETURN collect([type(e),
    // include: reason
    ]) AS joined
}
CALL (p, q, joined) {
  // Looked for only where no edge was found.
  UNWIND CASE WHEN size(joined) = 0 THEN [p] ELSE [] END AS from
  MATCH (from)-[:MENTIONS]->(x)<-[:MENTIONS]-(q)
  WITH x, COUNT { (x)<-[:MENTIONS]-() } AS frequency
  ORDER BY frequency, x.title
  LIMIT 3
  RETURN collect(x.title) AS shared
}
WITH pair, joined[0] AS joined, shared
WHERE joined IS NOT NULL OR size(shared) > 0
WITH pair, coalesce(joined, ['MENTIONS', substring(reduce(all = '', title IN shared | all + ', ' + title), 2)]) AS best
RETURN pair[0] AS source, pair[1] AS target, best[0] AS edge, best[1] AS reason
ORDER BY source, target
