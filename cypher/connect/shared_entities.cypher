// connect.sharedEntities(corpus :: STRING, rows :: LIST OF ANY) :: (written :: INT)
// Joins passages that share entities, unless a mention of a document joins them: each row has the
// nodes of both, how many entities they share, their weight, and the first of them.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row[0] AND p.corpus = $corpus
MATCH (q:Passage) WHERE elementId(q) = row[1] AND q.corpus = $corpus
WITH p, q, row
WHERE NOT EXISTS { (p)-[:SHARES_ENTITY]-(q) }
CREATE (p)-[:SHARES_ENTITY
  {count: row[2], weight: row[3], entities: row[4], namesTitle: false}]->(q)
RETURN count(*) AS written
