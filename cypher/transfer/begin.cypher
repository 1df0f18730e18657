// transfer.begin(name :: STRING, kind :: STRING, load :: STRING, properties :: MAP) :: (load :: STRING)
// Marks the beginning of an import. The mark is no corpus and no knowledge graph yet, so that no query
// finds what is half there; `transfer.finish` makes it one.
// mode: WRITE
CREATE (c:KgpImport)
SET c = $properties, c.name = $name, c.kind = $kind, c.load = $load
RETURN c.load AS load
