// One turn of KGP's Algorithm 1 with the lexical agent. Needs `hops` (turns left), `budget`, `branching`,
// `text`, `outward`, `inward`, `lexical` (include/hits), `search`, `visited` and of them the `beam`: maps of node, match,
// inherited and path (a list of nodes). Leaves all of them as they are after the hop.
WITH search, hops, budget, branching, outward, inward, text, lexical, visited, beam,
     CASE WHEN hops > 0 THEN toInteger(ceil(1.0 * (budget - size(visited)) / hops)) ELSE 0 END AS room,
     [v IN visited | v.node.id] AS known
CALL (branching, outward, inward, text, lexical, beam, room, known) {
  WITH lexical, known, branching, [] AS edges, outward, inward,
       [b IN CASE WHEN room > 0 THEN beam ELSE [] END |
         {passage: b.node.id, match: b.match, text: text}] AS frontier
  // include: hop
  WITH n, seen, path, match, inherited
  ORDER BY match + inherited DESC, n.id
  RETURN collect({node: n, seen: seen, from: path, match: match, inherited: inherited}) AS rows
}
WITH search, hops, budget, branching, outward, inward, text, lexical, visited, rows, beam AS before,
     [r IN [r IN rows WHERE NOT r.seen][..room] | {node: r.node, match: r.match,
       inherited: r.inherited, path: beam[r.from].path + [r.node]}] AS beam
// A visited passage that another one names is better led to by that one.
WITH search, hops - 1 AS hops, budget, branching, outward, inward, text, lexical, beam, [v IN visited | coalesce(head(
  [r IN rows WHERE r.node = v.node AND r.inherited > v.inherited AND NOT v.node IN before[r.from].path
   | {node: v.node, match: v.match, inherited: r.inherited, path: before[r.from].path + [v.node]}]),
  v)] + beam AS visited
