// traverse.paperHop(frontier :: LIST OF MAP, corpus :: STRING, edge :: STRING, visited = [] :: LIST OF STRING, most = 30 :: INT) :: (path :: INT, passage :: STRING, match :: FLOAT, reason :: STRING)
// The candidate neighbours of KGP's Algorithm 1, for every path of a generation at once: the neighbours
// of each path's last passage over one type of edge, best first, `most` for each path. A step of
// `frontier` has passage and what the agent expects: `vector` (compared by cosine alone, in the `space`
// st or mdr), else `text` (by its words, BM25), or a `draw`, which takes neighbours at random.
// mode: READ
MATCH (c:Corpus {name: $corpus})
WITH c, $frontier AS frontier
// Neighbours and what the search finds as rows: what stands in both comes together by its node.
CALL (c, frontier) {
  UNWIND frontier AS step
  WITH DISTINCT c, coalesce(step.text, '') AS text
  WITH c, text,
    // include: words
    AS words
  WITH c, text, words, 1000 AS most
  // include: search
  RETURN node AS n, text, score, null AS way
  UNION ALL
  UNWIND range(0, size(frontier) - 1) AS path
  MATCH (p:Passage {id: frontier[path].passage})
    -[e:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]-(n:Passage)
  WHERE type(e) = $edge AND NOT n.id IN $visited
  WITH path, n, e
  ORDER BY coalesce(e.weight, e.score, 0.0) DESC
  // A pair may be joined in both directions.
  WITH path, n, collect(e)[0] AS e
  RETURN n, coalesce(frontier[path].text, '') AS text, 0.0 AS score, {path: path, edge: e} AS way
}
WITH n, text, max(score) AS score, collect(way) AS ways
UNWIND ways AS way
WITH n, score, way.path AS path, way.edge AS e, $frontier[way.path] AS step
WITH n, score, path, e, step,
     CASE step.space WHEN 'mdr' THEN n.mdrEmbedding ELSE n.embedding END AS embedding
WITH path, n, e,
     CASE WHEN coalesce(step.draw, 0) > 0 THEN
            // include: drawn
          WHEN size(coalesce(step.vector, [])) > 0
          THEN coalesce(2 * vector.similarity.cosine(embedding, step.vector) - 1, -1.0)
          ELSE score END AS match
ORDER BY path, match DESC, n.id
WITH path, collect({n: n, e: e, match: match})[..$most] AS ranked
UNWIND ranked AS row
WITH path, row.n.id AS passage, row.e AS e, row.match AS match
WHERE passage IS NOT NULL
RETURN path, passage, match,
       // include: reason
       AS reason
