// check.entity(entity :: ANY, graph :: STRING) :: (wrong :: STRING)
// Says that a knowledge graph does not have this entity, an id or a name, if so.
// mode: READ
MATCH (g:KnowledgeGraph {name: $graph})
WITH g, [$entity] AS entities
// include: unknown_entities
RETURN 'the knowledge graph ' + $graph + ' has no entity named ' +
  // include: listed
  AS wrong
