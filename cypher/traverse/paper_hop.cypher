// traverse.paperHop(frontier :: LIST OF MAP, corpus :: STRING, edge :: STRING, visited = [] :: LIST OF STRING, most = 30 :: INT) :: (path :: INT, passage :: STRING, match :: FLOAT, reason :: STRING)
// The candidate neighbours of KGP's Algorithm 1, for every path of a generation at once: the neighbours
// of each path's last passage over one type of edge, best first, `most` for each path. A step of
// `frontier` has passage and what the agent expects: `vector` (compared by cosine alone, in the `space`
// st or mdr), else `text` (by its words, BM25), or a `draw`, which takes neighbours at random.
// mode: READ
MATCH (c:Corpus {name: $corpus})
WITH c, $frontier AS frontier
// By text: the best score, and the scores by passage id.
CALL (c, frontier) {
  UNWIND frontier AS step
  WITH DISTINCT c, coalesce(step.text, '') AS text
  WITH c, text,
    // include: words
    AS words
  WITH c, text, words, 1000 AS most
  // include: search
  WITH text, node.id AS id, score
  // A passage deleted since the search has no properties any longer.
  WHERE id IS NOT NULL
  WITH text, collect([id, score]) AS hits, max(score) AS best
  RETURN apoc.map.fromPairs(collect([text, {best: best, hits: apoc.map.fromPairs(hits)}])) AS lexical
}
UNWIND range(0, size(frontier) - 1) AS path
WITH path, frontier[path] AS step, lexical
MATCH (p:Passage {id: step.passage})-[e:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]-(n:Passage)
WHERE type(e) = $edge AND NOT n.id IN $visited
WITH path, step, lexical, n, e
ORDER BY coalesce(e.weight, e.score, 0.0) DESC
// A pair may be joined in both directions.
WITH path, step, lexical, n, collect(e)[0] AS e,
     CASE step.space WHEN 'mdr' THEN n.mdrEmbedding ELSE n.embedding END AS embedding
WITH path, n, e,
     CASE WHEN coalesce(step.draw, '') <> '' THEN
            // A number from 0 to 1 that is spread evenly and the same in every run: a hash.
            reduce(x = 0.0, digit IN split(left(apoc.util.md5([step.draw, n.id]), 8), '') |
              16 * x + apoc.text.indexOf('0123456789abcdef', digit)) / 16 ^ 8
          WHEN size(coalesce(step.vector, [])) > 0
          THEN coalesce(2 * vector.similarity.cosine(embedding, step.vector) - 1, -1.0)
          ELSE coalesce(lexical[coalesce(step.text, '')].hits[n.id], 0.0) END AS match
ORDER BY path, match DESC, n.id
WITH path, collect({n: n, e: e, match: match})[..$most] AS ranked
UNWIND ranked AS row
WITH path, row.n.id AS passage, row.e AS e, row.match AS match
WHERE passage IS NOT NULL
RETURN path, passage, match,
       // include: reason
       AS reason
