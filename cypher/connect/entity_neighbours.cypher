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
    MATCH (p)-[m:MENTIONS]->(d:Document)-[:HAS_PASSAGE]->(q:Passage {position: 0})
    RETURN m, d, p AS first, q AS second
    UNION
    MATCH (p {position: 0})<-[:HAS_PASSAGE]-(d:Document)<-[m:MENTIONS]-(q:Passage)
    RETURN m, d, q AS first, p AS second
  }
  WITH first, second, m, d WHERE first <> second
  RETURN first, second, 1 AS count, [d.title] AS items, true AS namesTitle, true AS chosen,
         m.score * log(1 + toFloat($passages) / COUNT { (d)<-[:MENTIONS]-() }) / log(1 + $passages) AS weight
  UNION ALL
  MATCH (p)-[:MENTIONS]->(e)
  // include: rare
  WITH p, e, rare
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
    MATCH (e)<-[:MENTIONS]-(r:Passage) WHERE NOT r IN [p, q]
    WITH r, round(sum(rare), 9) AS weight
    WHERE weight > pair.weight OR (weight = pair.weight AND r.id < p.id)
    RETURN r
  } < $neighbours
  RETURN p AS first, q AS second, pair.count AS count, pair.items AS items, false AS namesTitle, chosen,
         pair.weight AS weight
}
RETURN elementId(first) AS first, elementId(second) AS second, count, weight, items, namesTitle, chosen
