// Full-text search of the corpus `c` for what each step of `frontier` expects. Leaves `lexical`: by
// text, the `best` score and the `hits`, scores by passage id.
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
