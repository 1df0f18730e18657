// One hop for a whole beam. Needs `frontier` (steps as traverse/next_evidence takes them), `hits` (of each
// text the {text, node, score} that the search found, the best with the score 1), the ids `known` of what
// was visited, the types `edges` (all when empty), `branching`, `outward` and `inward`. Leaves one row for
// each neighbour `n`: `path`, the place in the frontier; `seen`, whether it was visited; `e`, the edge;
// `match` and `inherited`.
CALL (frontier, hits, known, edges, branching, outward, inward) {
  // Neighbours and hits as rows: what stands in both comes together by its node.
  CALL (frontier, hits, known, edges, outward, inward) {
    UNWIND range(0, size(frontier) - 1) AS path
    MATCH (p:Passage {id: frontier[path].passage})
      -[e:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]-(n:Passage)
    WHERE size(edges) = 0 OR type(e) IN edges
    WITH path, n, e, n.id IN known AS seen,
         CASE WHEN NOT coalesce(e.namesTitle, false) THEN 0.0
              WHEN startNode(e) = p THEN outward ELSE inward END AS trust
    WHERE NOT seen OR trust > 0
    ORDER BY trust DESC, coalesce(e.weight, e.score, 0.0) DESC, type(e)
    // A pair may be joined by several edges; without this it would take several slots.
    WITH path, n, seen, collect({edge: e, trust: trust})[0] AS best
    RETURN n, coalesce(frontier[path].text, '') AS text, 0.0 AS score,
           {path: path, seen: seen, edge: best.edge, trust: best.trust} AS way
    UNION ALL
    UNWIND hits AS hit
    RETURN hit.node AS n, hit.text AS text, hit.score AS score, null AS way
  }
  WITH n, text, max(score) AS relative, collect(way) AS ways
  UNWIND ways AS way
  WITH n, relative, way, frontier[way.path] AS step
  WITH n, relative, way, step,
       CASE step.space WHEN 'mdr' THEN n.mdrEmbedding ELSE n.embedding END AS embedding
  WITH n, way, way.trust * CASE WHEN step.match > 0 THEN step.match ELSE 0.0 END AS inherited,
       CASE WHEN coalesce(step.draw, 0) > 0 THEN
              // include: drawn
            WHEN size(coalesce(step.vector, [])) > 0 AND embedding IS NOT NULL
            THEN 2 * vector.similarity.cosine(embedding, step.vector) - 1 + 0.3 * relative
            ELSE relative END AS match
  ORDER BY match + inherited DESC, way.path
  WITH n, collect({way: way, match: match, inherited: inherited})[0] AS best
  ORDER BY best.match + best.inherited DESC, n.id
  WITH best.way.path AS path, best.way.seen AS seen, collect({passage: n, best: best}) AS ranked
  UNWIND CASE WHEN seen THEN ranked ELSE ranked[..branching] END AS row
  RETURN path, seen, row.passage AS n, row.best.way.edge AS e, row.best.match AS match,
         row.best.inherited AS inherited
}
