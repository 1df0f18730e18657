// kgp.retrieve(question :: STRING, corpus :: STRING, configuration = {} :: MAP) :: (rank :: INT, passage :: NODE, score :: FLOAT, path :: LIST OF NODE)
// KGP's Algorithm 1 with the lexical agent, wholly inside the database: seeds by full text and named
// titles, then hop by hop the neighbours that share most words with the question. `path` holds the
// passages that led to the passage, and the passage itself.
// mode: READ
// task: find passages
// check: configuration, corpus
// option: budget = TraversalSettings.budget :: INT (1 to 1000), how many passages to return
// option: seeds = TraversalSettings.seeds :: INT (1 to 1000), how many passages to start from
// option: branching = TraversalSettings.branching :: INT (1 to 100), how many new passages each path visits in a hop
// option: hops = TraversalSettings.hops :: INT (0 to 2), how many hops to make
// option: named = TraversalSettings.named :: FLOAT (0 to 1), what a seed gains where the question names its title
// option: outward = TraversalSettings.outward :: FLOAT (0 to 1), the share of its match that a passage passes on to one whose title it names
// option: inward = TraversalSettings.inward :: FLOAT (0 to 1), the same against the edge
// example: CALL custom.kgp.retrieve('Who built the lighthouse?', 'demo', {budget: 10})
MATCH (c:Corpus {name: $corpus})
WITH c, $question AS text,
     CASE WHEN $configuration.budget < 50 THEN 100 ELSE 2 * $configuration.budget END AS depth
WITH c, text, depth,
  // include: words
  AS words
// The seeds, as traverse/hybrid_seeds finds them without a vector.
CALL (c, text, words, depth) {
  WITH c, text, words, depth AS most
  // include: search
  WITH node, score ORDER BY score DESC, node.id
  RETURN 'words' AS list, collect({node: node, score: score}) AS ranked
  UNION ALL
  WITH c, words
  WHERE $configuration.named > 0
  // include: titles
  WITH node, score ORDER BY score DESC, node.id
  RETURN 'title' AS list, collect({node: node, score: score}) AS ranked
}
WITH c, text, words, list, ranked[..depth] AS ranked
UNWIND range(0, size(ranked) - 1) AS rank
WITH c, text, words, ranked[rank].node AS passage, list, 1.0 / (60 + rank) AS part,
     CASE list WHEN 'words' THEN ranked[rank].score / ranked[0].score ELSE 0.0 END AS lexical
WITH c, text, words, passage, sum(part) AS fused, max(lexical) AS lexical, collect(list) AS lists
ORDER BY fused DESC, passage.id
WITH c, text, words, collect({node: passage, inherited: 0.0, path: [passage],
       match: lexical + CASE WHEN 'title' IN lists THEN $configuration.named ELSE 0.0 END
     })[..$configuration.budget] AS search
CALL (c, text, words) {
  WITH c, text, words, 1000 AS most
  // include: search
  WITH collect({node: node, score: score}) AS found, max(score) AS best
  RETURN [hit IN found | {text: text, node: hit.node, score: hit.score / best}] AS hits
}
WITH search, hits, $configuration.hops AS hops,
     search[..$configuration.seeds] AS visited
WITH search, hits, hops, visited, visited AS beam
// Two hops at most.
WITH search, hits, hops, visited, beam, CASE WHEN hops > 0
       THEN toInteger(ceil(1.0 * ($configuration.budget - size(visited)) / hops)) ELSE 0 END AS room
CALL (hits, visited, beam, room) {
  WITH [v IN visited | v.node.id] AS known, [] AS edges, $configuration.branching AS branching,
       $configuration.outward AS outward, $configuration.inward AS inward,
       [b IN CASE WHEN room > 0 THEN beam ELSE [] END |
         {passage: b.node.id, match: b.match, text: $question}] AS frontier
  // include: hop
  WITH n, seen, path, match, inherited
  ORDER BY match + inherited DESC, n.id
  RETURN collect({node: n, seen: seen, from: path, match: match, inherited: inherited}) AS rows
}
WITH search, hits, hops - 1 AS hops, visited, rows, beam AS before,
     [r IN [r IN rows WHERE NOT r.seen][..room] | {node: r.node, match: r.match,
       inherited: r.inherited, path: beam[r.from].path + [r.node]}] AS beam
// A visited passage that another one names is better led to by that one.
WITH search, hits, hops, beam, [v IN visited | coalesce(head(
  [r IN rows WHERE r.node = v.node AND r.inherited > v.inherited AND NOT v.node IN before[r.from].path
   | {node: v.node, match: v.match, inherited: r.inherited, path: before[r.from].path + [v.node]}]),
  v)] + beam AS visited
WITH search, hits, hops, visited, beam, CASE WHEN hops > 0
       THEN toInteger(ceil(1.0 * ($configuration.budget - size(visited)) / hops)) ELSE 0 END AS room
CALL (hits, visited, beam, room) {
  WITH [v IN visited | v.node.id] AS known, [] AS edges, $configuration.branching AS branching,
       $configuration.outward AS outward, $configuration.inward AS inward,
       [b IN CASE WHEN room > 0 THEN beam ELSE [] END |
         {passage: b.node.id, match: b.match, text: $question}] AS frontier
  // include: hop
  WITH n, seen, path, match, inherited
  ORDER BY match + inherited DESC, n.id
  RETURN collect({node: n, seen: seen, from: path, match: match, inherited: inherited}) AS rows
}
WITH search, hits, hops - 1 AS hops, visited, rows, beam AS before,
     [r IN [r IN rows WHERE NOT r.seen][..room] | {node: r.node, match: r.match,
       inherited: r.inherited, path: beam[r.from].path + [r.node]}] AS beam
// A visited passage that another one names is better led to by that one.
WITH search, hits, hops, beam, [v IN visited | coalesce(head(
  [r IN rows WHERE r.node = v.node AND r.inherited > v.inherited AND NOT v.node IN before[r.from].path
   | {node: v.node, match: v.match, inherited: r.inherited, path: before[r.from].path + [v.node]}]),
  v)] + beam AS visited
UNWIND range(0, size(visited) - 1) AS at
WITH search, visited, visited[at] AS row, at
ORDER BY row.match + row.inherited DESC, at
WITH search, [v IN visited | v.node] AS nodes, collect(row) AS ranked
// What the graph leaves of the budget is filled with further results of the search.
WITH (ranked + [s IN search WHERE NOT s.node IN nodes])[..$configuration.budget] AS rows
UNWIND range(0, size(rows) - 1) AS at
RETURN at + 1 AS rank, rows[at].node AS passage, rows[at].match + rows[at].inherited AS score,
       rows[at].path AS path
