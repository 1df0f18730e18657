// connect.titleEdges(corpus :: STRING, maxOwners = 20 :: INT, batch = 1000 :: INT) :: (made :: INT)
// Joins each passage that names a document's title to that document's first passage; a title shared
// by more than `maxOwners` documents names none of them and is left out.
// mode: WRITE
MATCH (q:Passage {corpus: $corpus})
CALL (q) {
  MATCH (q)-[own:HAS_KEYWORD {owned: true}]->(k:Keyword)
  WHERE COUNT { (k)<-[:HAS_KEYWORD {owned: true}]-() } <= $maxOwners
  MATCH (k)<-[has:HAS_KEYWORD {owned: false}]-(p:Passage)
  WITH q, p, count(k) AS count, sum(own.tfidf * has.tfidf) AS weight,
       collect(k.text) AS keywords
  CREATE (p)-[:SHARES_KEYWORD
    {count: count, weight: weight, keywords: keywords, namesTitle: true}]->(q)
  RETURN count(*) AS edges
} IN TRANSACTIONS OF $batch ROWS
RETURN sum(edges) AS made
