// transfer.root(name :: STRING, kind :: STRING) :: (properties :: MAP)
// The properties of a corpus or knowledge graph (kind: its label).
// mode: READ
MATCH (c:Corpus|KnowledgeGraph {name: $name})
WHERE $kind IN labels(c)
RETURN properties(c) AS properties
