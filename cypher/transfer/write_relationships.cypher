// transfer.writeRelationships(name :: STRING, load :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Makes relationships of an import: each row has start and end (element ids), type and properties.
// Writes nothing once the import's mark is gone.
// mode: WRITE
MATCH (c:KgpImport {name: $name, load: $load})
WHERE NOT EXISTS { MATCH (x:Corpus|KnowledgeGraph {name: $name}) WHERE c.kind IN labels(x) }
SET c.load = $load
WITH c
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.start
MATCH (b) WHERE elementId(b) = row.end
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
RETURN count(r) AS written
