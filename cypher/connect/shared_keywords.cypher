// connect.sharedKeywords(corpus :: STRING, rows :: LIST OF ANY) :: (written :: INT)
// Joins passages that share keywords, unless a title joins them: each row has the nodes of both,
// how many keywords they share, their weight, and the first of them.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row[0] AND p.corpus = $corpus
MATCH (q:Passage) WHERE elementId(q) = row[1] AND q.corpus = $corpus
WITH p, q, row
WHERE NOT EXISTS { (p)-[:SHARES_KEYWORD]-(q) }
CREATE (p)-[:SHARES_KEYWORD
  {count: row[2], weight: row[3], keywords: row[4], namesTitle: false}]->(q)
RETURN count(*) AS written
