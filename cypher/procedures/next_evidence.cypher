// kgp.nextEvidence(frontier :: LIST OF MAP, corpus :: STRING, visited = [] :: LIST OF STRING, edges = null :: LIST OF STRING, branching = 5 :: INT, outward = 0.4 :: FLOAT, inward = 0.2 :: FLOAT) :: (path :: INT, passage :: STRING, edge :: STRING, match :: FLOAT, inherited :: FLOAT, reason :: STRING)
// One hop of KGP's Algorithm 1 for the whole beam: the neighbours of each path's last passage, ranked
// against what the agent expects next. A step of `frontier` has passage, match and the expectation:
// text, vector or both (`space`: 'st' or 'mdr', the embeddings it is compared with), or a `draw`, which
// takes neighbours at random. A neighbour's `match` is its cosine and a share of its relative BM25; it
// inherits a share of the step's match over an edge that names a title (`outward` to the document
// named, `inward` back). A neighbour of several paths goes to the one it scores best with; a path
// gets `branching` new ones at most. A visited passage is named again where it inherits something.
// mode: READ
// example: MATCH (p:Passage {corpus: 'demo'}) WITH p.id AS id LIMIT 1 CALL custom.kgp.nextEvidence([{passage: id, match: 1.0, text: 'Who built it?'}], 'demo') YIELD path, passage, edge, match, inherited, reason RETURN path, passage, edge, match, inherited, reason
MATCH (c:Corpus {name: $corpus})
CALL (c) {
  UNWIND $frontier AS step
  WITH DISTINCT c, coalesce(step.text, '') AS text
  WITH c, text, [found IN apoc.text.regexGroups(toLower(normalize(text, NFKC)),
    '[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿]|(?:(?![々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿])[\\p{L}\\p{N}\\p{M}])+')
    | found[0]][..200] AS words
  WHERE size(words) > 0
  WITH c, text, apoc.text.join(words, ' ') AS terms
  CALL db.index.fulltext.queryNodes('kgp_passage_text',
    '+scope:' + c.scope + '^0 +(title:(' + terms + ') text:(' + terms + '))', {limit: 1000})
  YIELD node, score
  WHERE score > 0
  WITH text, collect([node.id, score]) AS hits, max(score) AS best
  RETURN apoc.map.fromPairs(collect([text, {best: best, hits: apoc.map.fromPairs(hits)}])) AS lexical
}
UNWIND range(0, size($frontier) - 1) AS path
WITH lexical, path, $frontier[path] AS step
WITH path, step, lexical[coalesce(step.text, '')] AS words, size(coalesce(step.vector, [])) > 0 AS near
MATCH (p:Passage {id: step.passage})
  -[e:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]-(n:Passage)
WHERE size(coalesce($edges, [])) = 0 OR type(e) IN $edges
WITH path, step, words, near, n, e, n.id IN $visited AS seen,
     CASE WHEN NOT coalesce(e.namesTitle, false) THEN 0.0
          WHEN startNode(e) = p THEN $outward ELSE $inward END AS trust
WHERE NOT seen OR trust > 0
ORDER BY trust DESC, coalesce(e.weight, e.score, 0.0) DESC, type(e)
// A pair may be joined by several edges; without this it would take several slots.
WITH path, step, words, near, n, seen, collect({edge: e, trust: trust})[0] AS best
WITH path, n, seen, best.edge AS e, near, step,
     best.trust * CASE WHEN step.match > 0 THEN step.match ELSE 0.0 END AS inherited,
     coalesce(words.hits[n.id] / words.best, 0.0) AS lexical
WITH path, n, seen, e, inherited,
     CASE step.space WHEN 'mdr' THEN n.mdrEmbedding ELSE n.embedding END AS embedding, near, step,
     lexical
WITH path, n, seen, e, inherited,
     CASE WHEN coalesce(step.draw, '') <> ''
          // A hash read as a number between 0 and 1: evenly spread, and the same in every run.
          THEN reduce(x = 0.0, digit IN split(left(apoc.util.md5([step.draw, n.id]), 8), '') |
            16 * x + apoc.text.indexOf('0123456789abcdef', digit)) / 16 ^ 8
          WHEN near AND embedding IS NOT NULL
          THEN 2 * vector.similarity.cosine(embedding, step.vector) - 1 + 0.3 * lexical
          ELSE lexical END AS match
ORDER BY match + inherited DESC, path
WITH n, seen, collect({path: path, edge: e, match: match, inherited: inherited})[0] AS best
ORDER BY best.match + best.inherited DESC, n.id
WITH best.path AS path, seen, collect({passage: n.id, best: best}) AS ranked
UNWIND CASE WHEN seen THEN ranked ELSE ranked[..$branching] END AS row
WITH path, row.passage AS passage, row.best.edge AS e, row.best.match AS match,
     row.best.inherited AS inherited
RETURN path, passage, type(e) AS edge, match, inherited,
       CASE type(e)
         WHEN 'SHARES_KEYWORD' THEN apoc.text.join(e.keywords[..3], ', ')
         WHEN 'SHARES_ENTITY' THEN apoc.text.join(e.entities[..3], ', ')
         WHEN 'NEXT' THEN 'next in the document'
         ELSE 'cosine ' + toString(round(2 * e.score - 1, 2)) END AS reason
ORDER BY match + inherited DESC, passage
