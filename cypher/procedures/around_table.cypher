// kgp.aroundTable(table :: STRING, count = 1 :: INT) :: (passage :: NODE, place :: STRING)
// The passages around a table (by id): those that hold it, and `count` before and after.
// mode: READ
// example: MATCH (t:Table {corpus: 'demo'}) WITH t.id AS id LIMIT 1 CALL custom.kgp.aroundTable(id, 1) YIELD passage, place RETURN passage, place
MATCH (t:Table {id: $table})<-[:HAS_TABLE]-(d:Document)-[:HAS_PASSAGE]->(p:Passage)
WHERE p.start < t.end AND p.end > t.start
WITH d, min(p.position) AS first, max(p.position) AS last
MATCH (d)-[:HAS_PASSAGE]->(passage:Passage)
WHERE first - $count <= passage.position <= last + $count
RETURN passage, CASE WHEN passage.position < first THEN 'before'
                     WHEN passage.position > last THEN 'after' ELSE 'holds' END AS place
ORDER BY passage.position
