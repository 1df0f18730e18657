// inspect.graphNames() :: (name :: STRING)
// The names of all knowledge graphs.
// mode: READ
MATCH (g:KnowledgeGraph)
RETURN g.name AS name
ORDER BY name
