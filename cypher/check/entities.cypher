// check.entities(entities :: LIST OF ANY, graph :: STRING) :: (wrong :: STRING)
// Says which of the entities, ids or names, a knowledge graph does not have.
// mode: READ
MATCH (g:KnowledgeGraph {name: $graph})
WITH g, $entities AS entities
// include: unknown_entities
RETURN 'the knowledge graph ' + $graph + ' has no entity named ' +
  // include: listed
  AS wrong
