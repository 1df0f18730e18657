// One hop for a whole beam. Needs `frontier` (steps as traverse/next_evidence takes them), `lexical`
// (by text the `best` BM25 score and the `hits`, scores by passage id), the ids `known` of what was visited, the types `edges` (all when empty), `branching`,
// `outward` and `inward`. Leaves one row for each neighbour `n`: `path`, the place in the frontier;
// `seen`, whether it was visited; `e`, the edge; `match` and `inherited`.
UNWIND range(0, size(frontier) - 1) AS path
WITH path, frontier[path] AS step, lexical, known, edges, branching, outward, inward
MATCH (p:Passage {id: step.passage})
  -[e:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]-(n:Passage)
WHERE size(edges) = 0 OR type(e) IN edges
WITH path, step, lexical[coalesce(step.text, '')] AS words, size(coalesce(step.vector, [])) > 0 AS near,
     n, e, n.id IN known AS seen, branching,
     CASE WHEN NOT coalesce(e.namesTitle, false) THEN 0.0
          WHEN startNode(e) = p THEN outward ELSE inward END AS trust
WHERE NOT seen OR trust > 0
ORDER BY trust DESC, coalesce(e.weight, e.score, 0.0) DESC, type(e)
// A pair may be joined by several edges; without this it would take several slots.
WITH path, step, words, near, n, seen, branching, collect({edge: e, trust: trust})[0] AS best
WITH path, n, seen, branching, best.edge AS e, near, step,
     best.trust * CASE WHEN step.match > 0 THEN step.match ELSE 0.0 END AS inherited,
     coalesce(words.hits[n.id] / words.best, 0.0) AS relative,
     CASE step.space WHEN 'mdr' THEN n.mdrEmbedding ELSE n.embedding END AS embedding
WITH path, n, seen, branching, e, inherited,
     CASE WHEN coalesce(step.draw, '') <> '' THEN
            // A number from 0 to 1 that is spread evenly and the same in every run: a hash.
            reduce(x = 0.0, digit IN split(left(apoc.util.md5([step.draw, n.id]), 8), '') |
              16 * x + apoc.text.indexOf('0123456789abcdef', digit)) / 16 ^ 8
          WHEN near AND embedding IS NOT NULL
          THEN 2 * vector.similarity.cosine(embedding, step.vector) - 1 + 0.3 * relative
          ELSE relative END AS match
ORDER BY match + inherited DESC, path
WITH n, seen, branching,
     collect({path: path, edge: e, match: match, inherited: inherited})[0] AS best
ORDER BY best.match + best.inherited DESC, n.id
WITH best.path AS path, seen, branching, collect({passage: n, best: best}) AS ranked
UNWIND CASE WHEN seen THEN ranked ELSE ranked[..branching] END AS row
WITH path, seen, row.passage AS n, row.best.edge AS e, row.best.match AS match,
     row.best.inherited AS inherited
