// inspect.graphs() :: (name :: STRING, entities :: INT, relationships :: INT, encoder :: STRING)
// All knowledge graphs by name, and what is in them.
// mode: READ
MATCH (g:KnowledgeGraph)
CALL (g) {
  MATCH (e:Entity {graph: g.name})
  WHERE e.key IS NOT NULL
  RETURN count(e) AS entities,
         sum(COUNT { (e)-[r]->() WHERE r.graph = g.name }) AS relationships
}
RETURN g.name AS name, entities, relationships, g.encoder AS encoder
ORDER BY name
