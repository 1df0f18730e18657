// transfer.writeNodes(name :: STRING, load :: STRING, rows :: LIST OF MAP) :: (at :: INT, node :: STRING)
// Makes nodes of an import: each row has its place (at), labels, properties, times as texts and vectors.
// Writes nothing once the import's mark is gone.
// mode: WRITE
MATCH (c:KgpImport {name: $name, load: $load})
WHERE NOT EXISTS { MATCH (x:Corpus|KnowledgeGraph {name: $name}) WHERE c.kind IN labels(x) }
// Holds the mark until this batch is committed.
SET c.load = $load
WITH c
UNWIND $rows AS row
CREATE (n:$(row.labels))
SET n = row.properties
FOREACH (name IN keys(row.times) | SET n[name] = datetime(row.times[name]))
WITH n, row
CALL (n, row) {
  UNWIND keys(row.vectors) AS name
  CALL db.create.setNodeVectorProperty(n, name, row.vectors[name])
  RETURN count(*) AS vectors
}
RETURN row.at AS at, elementId(n) AS node
