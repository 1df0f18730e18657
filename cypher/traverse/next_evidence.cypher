// traverse.nextEvidence(frontier :: LIST OF MAP, corpus :: STRING, visited = [] :: LIST OF STRING, edges = [] :: LIST OF STRING, branching = TraversalSettings.branching :: INT, outward = TraversalSettings.outward :: FLOAT, inward = TraversalSettings.inward :: FLOAT) :: (path :: INT, passage :: STRING, edge :: STRING, match :: FLOAT, inherited :: FLOAT, reason :: STRING)
// One hop of KGP's Algorithm 1 for the whole beam: the neighbours of each path's last passage, ranked
// against what the agent expects next. A step of `frontier` has passage, match and the expectation:
// text, vector or both (`space`: 'st' or 'mdr', the embeddings it is compared with), or a `draw`, which
// takes neighbours at random. A neighbour's `match` is its cosine and a share of its relative BM25; it
// inherits a share of the step's match over an edge that names a title (`outward` to the document
// named, `inward` back). A neighbour of several paths goes to the one it scores best with; a path
// gets `branching` new ones at most. A visited passage is named again where it inherits something.
// mode: READ
MATCH (c:Corpus {name: $corpus})
WITH c, $frontier AS frontier
CALL (c, frontier) {
  UNWIND frontier AS step
  WITH DISTINCT c, coalesce(step.text, '') AS text
  WITH c, text,
    // include: words
    AS words
  WITH c, text, words, 1000 AS most
  // include: search
  WITH text, collect({node: node, score: score}) AS found, max(score) AS best
  UNWIND found AS hit
  RETURN collect({text: text, node: hit.node, score: hit.score / best}) AS hits
}
WITH frontier, hits, $visited AS known, $edges AS edges, $branching AS branching,
     $outward AS outward, $inward AS inward
// include: hop
WITH path, n, n.id AS passage, e, match, inherited
WHERE passage IS NOT NULL
RETURN path, passage, type(e) AS edge, match, inherited,
       // include: reason
       AS reason
ORDER BY match + inherited DESC, passage
