// connect.sharedEntities(corpus :: STRING, passages :: INT, neighbours = 10 :: INT, maxFrequency = 50 :: INT, batch = 500 :: INT) :: (made :: INT)
// Joins each passage to the `neighbours` others it shares the rarest entities with; entities that
// more than `maxFrequency` passages mention join none. The weight is the sum of how rare they are
// among the corpus's `passages`, each 0 to 1, a phrase of one word less; a mention's edge to the
// document itself is kept as it is.
// mode: WRITE
MATCH (p:Passage {corpus: $corpus})
CALL (p) {
  MATCH (p)-[:MENTIONS]->(e)
  WITH p, e, COUNT { (e)<-[:MENTIONS]-() } AS frequency
  WHERE 2 <= frequency <= $maxFrequency
  WITH p, e, log(1.0 + 1.0 * $passages / frequency) / log(1.0 + $passages)
       * CASE WHEN e.type = 'Phrase' AND NOT e.name CONTAINS ' ' THEN 0.5 ELSE 1.0 END AS rarity
  ORDER BY rarity DESC, e.title
  MATCH (e)<-[:MENTIONS]-(q:Passage)
  WHERE q <> p
  WITH p, q, count(e) AS count, sum(rarity) AS weight, collect(e.title)[..5] AS entities
  ORDER BY weight DESC, q.id
  LIMIT $neighbours
  WITH p, q, count, weight, entities
  WHERE NOT EXISTS { (p)-[:SHARES_ENTITY]-(q) }
  CREATE (p)-[:SHARES_ENTITY
    {entities: entities, count: count, weight: weight, namesTitle: false}]->(q)
  RETURN count(*) AS edges
} IN TRANSACTIONS OF $batch ROWS
RETURN sum(edges) AS made
