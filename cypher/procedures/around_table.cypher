// kgp.aroundTable(table :: ANY, configuration = {} :: MAP) :: (passage :: NODE, place :: STRING)
// The passages that hold a table (a node or its id), and those before and after.
// mode: READ
// task: pages and tables
// check: configuration, table
// option: count = 1 :: INT (0 to 1000), how many passages before and after
// example: MATCH (t:Table {corpus: 'demo'}) WITH t LIMIT 1 CALL custom.kgp.aroundTable(t, {count: 1}) YIELD passage, place RETURN passage, place
MATCH (t:Table {id: $table})
MATCH (t)<-[:HAS_TABLE]-(d:Document)-[:HAS_PASSAGE]->(p:Passage)
WHERE p.start < t.end AND p.end > t.start
WITH d, min(p.position) AS first, max(p.position) AS last
MATCH (d)-[:HAS_PASSAGE]->(passage:Passage)
WHERE first - $configuration.count <= passage.position <= last + $configuration.count
RETURN passage, CASE WHEN passage.position < first THEN 'before'
                     WHEN passage.position > last THEN 'after' ELSE 'holds' END AS place
ORDER BY passage.position
