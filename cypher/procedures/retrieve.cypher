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
CALL (found, titled, lexical) {
  UNWIND range(0, size(found) - 1) AS rank
  RETURN found[rank].node AS node, 1.0 / (60 + rank) AS part
  UNION ALL
  UNWIND range(0, size(titled) - 1) AS rank
  RETURN titled[rank] AS node, 1.0 / (60 + rank) AS part
}
WITH budget, seeds, hops, lexical, titled, node, sum(part) AS fused
ORDER BY fused DESC, node.id
WITH budget, seeds, hops, lexical, collect({
  node: node, path: [node.title],
  score: coalesce(lexical[node.id], 0.0) + CASE WHEN node IN titled THEN 0.2 ELSE 0.0 END
})[..budget] AS search
WITH budget, hops, lexical, search, search[..seeds] AS visited, search[..seeds] AS beam,
     // The first hop leaves half of the budget to the second.
     (budget - size(search[..seeds]) + hops - 1) / CASE hops WHEN 0 THEN 1 ELSE hops END AS room
// Hop 1: the neighbours of the beam that share most words with the question are visited next.
OPTIONAL CALL (visited, beam, lexical, room, hops) {
  UNWIND CASE WHEN hops >= 1 THEN beam ELSE [] END AS step
  WITH step, step.node AS p, [v IN visited | v.node] AS seen, lexical, room
  CALL (step, p, seen, lexical) {
    MATCH (p)-[e:SHARES_KEYWORD|SIMILAR_ST|NEXT]-(n:Passage)
    WHERE NOT n IN seen
    WITH n, max(CASE WHEN NOT coalesce(e.namesTitle, false) THEN 0.0
                     WHEN startNode(e) = p THEN 0.4 ELSE 0.2 END) AS trust
    RETURN n, trust * step.score + coalesce(lexical[n.id], 0.0) AS score
    ORDER BY score DESC, n.id
    LIMIT toInteger(coalesce($settings.branching, 5))
  }
  WITH room, n, score, step.path + [n.title] AS path
  ORDER BY score DESC, n.id
  WITH room, n, collect({node: n, score: score, path: path})[0] AS best
  ORDER BY best.score DESC, n.id
  WITH room, collect(best) AS ranked
  RETURN ranked[..room] AS next
}
WITH budget, hops, lexical, search, visited + coalesce(next, []) AS visited,
     coalesce(next, []) AS beam
WITH budget, hops, lexical, search, visited, beam, budget - size(visited) AS room
// Hop 2: the neighbours of the beam that share most words with the question are visited next.
OPTIONAL CALL (visited, beam, lexical, room, hops) {
  UNWIND CASE WHEN hops >= 2 THEN beam ELSE [] END AS step
  WITH step, step.node AS p, [v IN visited | v.node] AS seen, lexical, room
  CALL (step, p, seen, lexical) {
    MATCH (p)-[e:SHARES_KEYWORD|SIMILAR_ST|NEXT]-(n:Passage)
    WHERE NOT n IN seen
    WITH n, max(CASE WHEN NOT coalesce(e.namesTitle, false) THEN 0.0
                     WHEN startNode(e) = p THEN 0.4 ELSE 0.2 END) AS trust
    RETURN n, trust * step.score + coalesce(lexical[n.id], 0.0) AS score
    ORDER BY score DESC, n.id
    LIMIT toInteger(coalesce($settings.branching, 5))
  }
  WITH room, n, score, step.path + [n.title] AS path
  ORDER BY score DESC, n.id
  WITH room, n, collect({node: n, score: score, path: path})[0] AS best
  ORDER BY best.score DESC, n.id
  WITH room, collect(best) AS ranked
  RETURN ranked[..room] AS next
}
WITH budget, search, visited + coalesce(next, []) AS visited
WITH budget, visited, [s IN search WHERE NOT s.node IN [v IN visited | v.node]] AS rest
CALL (visited) {
  UNWIND visited AS row
  WITH row ORDER BY row.score DESC, row.node.id
  RETURN collect(row) AS ranked
}
// What the graph leaves of the budget is filled with further results of the search.
WITH (ranked + rest)[..budget] AS rows
UNWIND range(0, size(rows) - 1) AS at
RETURN at + 1 AS rank, rows[at].node AS passage, rows[at].score AS score, rows[at].path AS path
