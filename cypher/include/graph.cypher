// Raises an error unless there is a knowledge graph named $graph. Leaves it as `g`.
OPTIONAL MATCH (g:KnowledgeGraph {name: $graph})
CALL apoc.util.validate(g IS NULL, '%s', [CASE WHEN g IS NULL THEN
  'there is no knowledge graph named ' + $graph + ' (there are: '
  + apoc.text.join(COLLECT { MATCH (x:KnowledgeGraph) RETURN x.name ORDER BY x.name }, ', ') + ')'
  END])
