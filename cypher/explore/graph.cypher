// explore.graph(graph :: STRING) :: (encoder :: STRING, relations :: LIST OF STRING, names :: LIST OF STRING)
// The encoder of a knowledge graph, its relationship types and a sample of its names, as the load wrote
// them down; no row without the graph.
// mode: READ
MATCH (g:KnowledgeGraph {name: $graph})
RETURN g.encoder AS encoder, coalesce(g.relations, []) AS relations, coalesce(g.names, []) AS names
