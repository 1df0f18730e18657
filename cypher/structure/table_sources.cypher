// structure.tableSources(corpus :: STRING) :: (table :: STRING, order :: INT, source :: STRING)
// The tables of a corpus, with the files that they come from.
// mode: READ
MATCH (d:Document {corpus: $corpus})-[:HAS_TABLE]->(t:Table)
RETURN t.id AS table, t.order AS order, d.source AS source
ORDER BY source, order
