// explore.graph(graph :: STRING) :: (encoder :: STRING, relations :: LIST OF STRING)
// The encoder of a knowledge graph and its relationship types, as the load wrote them down; no row
// without the graph.
// mode: READ
MATCH (g:KnowledgeGraph {name: $graph})
RETURN g.encoder AS encoder, coalesce(g.relations, []) AS relations
