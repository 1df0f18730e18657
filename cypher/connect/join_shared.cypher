// connect.joinShared(corpus :: STRING, rows :: LIST OF ANY, type :: STRING) :: (written :: INT)
// Adds edges of a type (SHARES_KEYWORD, SHARES_ENTITY): each row has both nodes, how many keywords or entities
// they share, their weight, the first of them, and whether the first passage names the other one's title.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row[0] AND p.corpus = $corpus
MATCH (q:Passage) WHERE elementId(q) = row[1] AND q.corpus = $corpus
FOREACH (_ IN CASE $type WHEN 'SHARES_KEYWORD' THEN [1] ELSE [] END |
  CREATE (p)-[:SHARES_KEYWORD {count: row[2], weight: row[3], keywords: row[4], namesTitle: row[5]}]->(q))
FOREACH (_ IN CASE $type WHEN 'SHARES_ENTITY' THEN [1] ELSE [] END |
  CREATE (p)-[:SHARES_ENTITY {count: row[2], weight: row[3], entities: row[4], namesTitle: row[5]}]->(q))
RETURN count(*) AS written
