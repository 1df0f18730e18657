// connect.entityNeighbours(corpus :: STRING, rows :: LIST OF STRING, maxFrequency :: INT, neighbours :: INT, passages :: INT) :: (first :: STRING, second :: STRING, count :: INT, weight :: FLOAT, items :: LIST OF STRING, namesTitle :: BOOLEAN, chosen :: BOOLEAN)
// The edges by mentions that there should be from and to some passages (by node), in a corpus of so many
// `passages`: those of which the first mentions the document that the second begins; and each passage's first with
// those that share most with it (`chosen`) or that have it among theirs. The 200 that share most with a passage
// are looked at.
// mode: READ
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row AND p.corpus = $corpus
CALL (p) {
  CALL (p) {
    MATCH (p)-[m:MENTIONS]->(e:Document)-[:HAS_PASSAGE]->(q:Passage {position: 0})
    RETURN m, e, p AS first, q AS second
    UNION
    MATCH (p {position: 0})<-[:HAS_PASSAGE]-(e:Document)<-[m:MENTIONS]-(q:Passage)
    RETURN m, e, q AS first, p AS second
  }
  WITH first, second, m, e WHERE first <> second
  // include: rare
  RETURN first, second, 1 AS count, [e.title] AS items, true AS namesTitle, true AS chosen,
         m.score * rare AS weight
  UNION ALL
  MATCH (p)-[:MENTIONS]->(e)
  // include: rare
  WITH p, e, rare, frequency WHERE 2 <= frequency <= $maxFrequency
  MATCH (e)<-[:MENTIONS]-(q:Passage) WHERE q <> p
  WITH p, q, e, rare ORDER BY rare DESC, e.title
  WITH p, q, round(sum(rare), 9) AS weight, count(*) AS count, collect(e.title)[..5] AS items
  ORDER BY weight DESC, q.id LIMIT 200
  WITH p, collect({q: q, weight: weight, count: count, items: items}) AS pairs
  UNWIND range(1, size(pairs)) AS place
  WITH p, pairs[place - 1] AS pair, place <= $neighbours AS chosen
  WITH p, pair, pair.q AS q, chosen
  WHERE chosen OR COUNT {
    MATCH (q)-[:MENTIONS]->(e)
    // include: rare
    WITH p, q, pair, e, rare, frequency WHERE 2 <= frequency <= $maxFrequency
    MATCH (e)<-[:MENTIONS]-(r:Passage) WHERE NOT r IN [p, q]
    WITH r, round(sum(rare), 9) AS weight
    WHERE weight > pair.weight OR (weight = pair.weight AND r.id < p.id)
    RETURN r
  } < $neighbours
  RETURN p AS first, q AS second, pair.count AS count, pair.items AS items, false AS namesTitle, chosen,
         pair.weight AS weight
}
RETURN elementId(first) AS first, elementId(second) AS second, count, weight, items, namesTitle, chosen
