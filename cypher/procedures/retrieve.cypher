// kgp.retrieve(question :: STRING, corpus :: STRING, configuration = {} :: MAP) :: (rank :: INT, passage :: NODE, score :: FLOAT, path :: LIST OF NODE)
// KGP's Algorithm 1 with the lexical agent, wholly inside the database: seeds by full text and named
// titles, then hop by hop the neighbours that share most words with the question. `path` holds the
// passages that led to the passage, and the passage itself.
// mode: READ
// option: budget = TraversalSettings.budget :: INT (1 to 1000), how many passages to return
// option: seeds = TraversalSettings.seeds :: INT (1 to 1000), how many passages to start from
// option: branching = TraversalSettings.branching :: INT (1 to 100), how many new passages each path visits in a hop
// option: hops = TraversalSettings.hops :: INT (0 to 2), how many hops to make
// option: named = TraversalSettings.named :: FLOAT (0 to 1), what a seed gains where the question names its title
// option: outward = TraversalSettings.outward :: FLOAT (0 to 1), the share of its match that a passage passes on to one whose title it names
// option: inward = TraversalSettings.inward :: FLOAT (0 to 1), the same against the edge
// example: CALL custom.kgp.retrieve('Who built the lighthouse?', 'demo', {budget: 10})
// include: configuration
// include: corpus
CALL (c) {
  WITH c, $question AS text, [] AS vector, $configuration.budget AS limit, $configuration.named AS named
  // include: fused
  WITH passage, fused, score
  ORDER BY fused DESC, passage.id
  RETURN collect({node: passage, match: score, inherited: 0.0, path: [passage]}) AS search
}
WITH c, search, search[..$configuration.seeds] AS visited, [{text: $question}] AS frontier
// include: hits
WITH search, $configuration.hops AS hops, $configuration.budget AS budget,
     $configuration.branching AS branching, $question AS text, $configuration.outward AS outward,
     $configuration.inward AS inward, lexical, visited, visited AS beam
// include: turn
// include: turn
UNWIND range(0, size(visited) - 1) AS at
WITH budget, search, visited, visited[at] AS row, at
ORDER BY row.match + row.inherited DESC, at
WITH budget, search, [v IN visited | v.node] AS nodes, collect(row) AS ranked
// What the graph leaves of the budget is filled with further results of the search.
WITH (ranked + [s IN search WHERE NOT s.node IN nodes])[..budget] AS rows
UNWIND range(0, size(rows) - 1) AS at
RETURN at + 1 AS rank, rows[at].node AS passage, rows[at].match + rows[at].inherited AS score,
       rows[at].path AS path
