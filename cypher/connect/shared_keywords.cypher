// connect.sharedKeywords(corpus :: STRING, neighbours = 10 :: INT, maxFrequency = 50 :: INT, batch = 500 :: INT) :: (made :: INT)
// Joins each passage to the `neighbours` others it shares the weightiest keywords with; keywords in
// more than `maxFrequency` passages join none, so that a frequent word cannot flood the graph.
// mode: WRITE
MATCH (p:Passage {corpus: $corpus})
CALL (p) {
  MATCH (p)-[a:HAS_KEYWORD]->(k:Keyword)
  WHERE k.documentFrequency <= $maxFrequency
  MATCH (k)<-[b:HAS_KEYWORD]-(q:Passage)
  WHERE q <> p
  WITH p, q, count(k) AS count, sum(a.tfidf * b.tfidf) AS weight,
       collect(k.text)[..5] AS keywords
  ORDER BY weight DESC, q.id
  LIMIT $neighbours
  WITH p, q, count, weight, keywords
  WHERE NOT EXISTS { (p)-[:SHARES_KEYWORD]-(q) }
  CREATE (p)-[:SHARES_KEYWORD
    {count: count, weight: weight, keywords: keywords, namesTitle: false}]->(q)
  RETURN count(*) AS edges
} IN TRANSACTIONS OF $batch ROWS
RETURN sum(edges) AS made
