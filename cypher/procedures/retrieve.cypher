// kgp.retrieve(question :: STRING, corpus :: STRING, settings = {} :: MAP) :: (rank :: INT, passage :: NODE, score :: FLOAT, path :: LIST OF STRING)
// KGP's Algorithm 1 with the lexical agent, wholly inside the database: seeds by full text and named
// titles, then hop by hop the neighbours that share most words with the question. Settings: budget
// (30), seeds (8), branching (5), hops (2, at most); `path` holds the titles that led to the passage.
// mode: READ
// example: CALL custom.kgp.retrieve('Who built the lighthouse?', 'demo', {budget: 10})
MATCH (c:Corpus {name: $corpus})
WITH c, coalesce($settings.budget, 30) AS budget, coalesce($settings.seeds, 8) AS seeds,
  coalesce($settings.hops, 2) AS hops,
  [found IN apoc.text.regexGroups(toLower(normalize($question, NFKC)),
  '[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿]|(?:(?![々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿])[\\p{L}\\p{N}\\p{M}])+')
  | found[0]][..200] AS words
WHERE size(words) > 0
CALL (c, words) {
  WITH c, apoc.text.join(words, ' ') AS terms
  CALL db.index.fulltext.queryNodes('kgp_passage_text',
    '+scope:' + c.scope + '^0 +(title:(' + terms + ') text:(' + terms + '))', {limit: 1000})
  YIELD node, score
  WHERE score > 0
  WITH node, score ORDER BY score DESC, node.id
  WITH collect({node: node, score: score}) AS found
  RETURN found, apoc.map.fromPairs([f IN found | [f.node.id, f.score / found[0].score]]) AS lexical
}
CALL (c, words) {
  UNWIND range(0, size(words) - 1) AS first
  UNWIND range(first + 1, CASE WHEN first + 12 < size(words) THEN first + 12 ELSE size(words) END)
    AS after
  MATCH (k:Keyword {corpus: c.name, text: apoc.text.join(words[first..after], ' ')})
  WHERE k.named
  WITH collect({keyword: k, first: first, after: after}) AS spans
  UNWIND [s IN spans
    WHERE none(t IN spans WHERE t <> s AND t.first <= s.first AND t.after >= s.after)] AS span
  WITH DISTINCT span.keyword AS k
  MATCH (k)<-[:HAS_KEYWORD {owned: true}]-(node:Passage)
  WITH node, max(size(split(k.text, ' ')) / (1.0 + log(k.documentFrequency))) AS score
  ORDER BY score DESC, node.id
  LIMIT 20
  RETURN collect(node) AS titled
}
CALL (found, titled) {
  UNWIND range(0, size(found[..100]) - 1) AS rank
  RETURN found[rank].node AS node, 1.0 / (60 + rank) AS part
  UNION ALL
  UNWIND range(0, size(titled) - 1) AS rank
  RETURN titled[rank] AS node, 1.0 / (60 + rank) AS part
}
WITH budget, seeds, hops, lexical, titled, node, sum(part) AS fused
ORDER BY fused DESC, node.id
WITH budget, seeds, hops, lexical, collect({
  node: node, nodes: [node], path: [node.title], inherited: 0.0,
  match: coalesce(lexical[node.id], 0.0) + CASE WHEN node IN titled THEN 0.3 ELSE 0.0 END
})[..budget] AS search
WITH budget, hops, lexical, search, search[..seeds] AS visited, search[..seeds] AS beam
// Each hop leaves the later ones their share of the budget.
WITH budget, hops, lexical, search, visited, beam,
     (budget - size(visited) + CASE WHEN hops > 1 THEN 1 ELSE 0 END)
       / CASE WHEN hops > 1 THEN 2 ELSE 1 END AS room
// Hop 1: the neighbours of the beam that share most words with the question are visited next.
OPTIONAL CALL (visited, beam, lexical, room, hops) {
  UNWIND range(0, CASE WHEN hops >= 1 AND room > 0 THEN size(beam) ELSE 0 END - 1) AS path
  WITH path, beam[path] AS step, lexical, room, [v IN visited | v.node] AS seen
  WITH path, step, step.node AS p, lexical, room, seen
  MATCH (p)-[e:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]-(n:Passage)
  WITH room, path, step, n, n IN seen AS known, coalesce(lexical[n.id], 0.0) AS match,
       max(CASE WHEN NOT coalesce(e.namesTitle, false) THEN 0.0
                WHEN startNode(e) = p THEN 0.4 ELSE 0.2 END) AS trust
  WHERE NOT known OR (trust > 0 AND NOT n IN step.nodes)
  WITH room, path, n, known, {
    node: n, match: match, inherited: trust * step.match,
    path: step.path + [n.title], nodes: step.nodes + [n]
  } AS row
  ORDER BY row.match + row.inherited DESC, path
  WITH room, n, known, collect({path: path, row: row})[0] AS best
  ORDER BY best.row.match + best.row.inherited DESC, n.id
  WITH room, known, best.path AS path, collect(best.row) AS rows
  UNWIND CASE WHEN known THEN rows
              ELSE rows[..toInteger(coalesce($settings.branching, 5))] END AS row
  WITH room, known, row
  ORDER BY row.match + row.inherited DESC, row.node.id
  WITH room, collect(CASE WHEN known THEN null ELSE row END) AS new,
       collect(CASE WHEN known THEN row ELSE null END) AS better
  RETURN new[..room] AS next, better
}
WITH budget, hops, lexical, search, coalesce(next, []) AS beam,
  // A visited passage that another one names is better led to by that one.
  [v IN visited | coalesce(head([b IN coalesce(better, [])
     WHERE b.node = v.node AND b.inherited > v.inherited
     | {node: v.node, match: v.match, inherited: b.inherited, path: b.path, nodes: b.nodes}]), v)]
  + coalesce(next, []) AS visited
WITH budget, hops, lexical, search, visited, beam, budget - size(visited) AS room
// Hop 2: the neighbours of the beam that share most words with the question are visited next.
OPTIONAL CALL (visited, beam, lexical, room, hops) {
  UNWIND range(0, CASE WHEN hops >= 2 AND room > 0 THEN size(beam) ELSE 0 END - 1) AS path
  WITH path, beam[path] AS step, lexical, room, [v IN visited | v.node] AS seen
  WITH path, step, step.node AS p, lexical, room, seen
  MATCH (p)-[e:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]-(n:Passage)
  WITH room, path, step, n, n IN seen AS known, coalesce(lexical[n.id], 0.0) AS match,
       max(CASE WHEN NOT coalesce(e.namesTitle, false) THEN 0.0
                WHEN startNode(e) = p THEN 0.4 ELSE 0.2 END) AS trust
  WHERE NOT known OR (trust > 0 AND NOT n IN step.nodes)
  WITH room, path, n, known, {
    node: n, match: match, inherited: trust * step.match,
    path: step.path + [n.title], nodes: step.nodes + [n]
  } AS row
  ORDER BY row.match + row.inherited DESC, path
  WITH room, n, known, collect({path: path, row: row})[0] AS best
  ORDER BY best.row.match + best.row.inherited DESC, n.id
  WITH room, known, best.path AS path, collect(best.row) AS rows
  UNWIND CASE WHEN known THEN rows
              ELSE rows[..toInteger(coalesce($settings.branching, 5))] END AS row
  WITH room, known, row
  ORDER BY row.match + row.inherited DESC, row.node.id
  WITH room, collect(CASE WHEN known THEN null ELSE row END) AS new,
       collect(CASE WHEN known THEN row ELSE null END) AS better
  RETURN new[..room] AS next, better
}
WITH budget, hops, lexical, search, coalesce(next, []) AS beam,
  // A visited passage that another one names is better led to by that one.
  [v IN visited | coalesce(head([b IN coalesce(better, [])
     WHERE b.node = v.node AND b.inherited > v.inherited
     | {node: v.node, match: v.match, inherited: b.inherited, path: b.path, nodes: b.nodes}]), v)]
  + coalesce(next, []) AS visited
WITH budget, visited, [s IN search WHERE NOT s.node IN [v IN visited | v.node]] AS rest
CALL (visited) {
  UNWIND visited AS row
  WITH row ORDER BY row.match + row.inherited DESC
  RETURN collect(row) AS ranked
}
// What the graph leaves of the budget is filled with further results of the search.
WITH (ranked + rest)[..budget] AS rows
UNWIND range(0, size(rows) - 1) AS at
RETURN at + 1 AS rank, rows[at].node AS passage, rows[at].match + rows[at].inherited AS score,
       rows[at].path AS path
