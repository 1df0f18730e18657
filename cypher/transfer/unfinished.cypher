// transfer.unfinished(name :: STRING, kind :: STRING) :: (load :: STRING)
// The imports of a corpus or knowledge graph that have not come to their end: running, or cut off.
// mode: READ
MATCH (c:KgpImport {name: $name, kind: $kind})
RETURN c.load AS load
