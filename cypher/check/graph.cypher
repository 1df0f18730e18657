// check.graph(graph :: STRING) :: (wrong :: STRING)
// Says that there is no knowledge graph of this name, if so, and which there are.
// mode: READ
OPTIONAL MATCH (g:KnowledgeGraph {name: $graph})
WITH g WHERE g IS NULL
WITH COLLECT { MATCH (x:KnowledgeGraph) RETURN x.name ORDER BY x.name } AS names
RETURN 'there is no knowledge graph named ' + $graph + ' (there are: ' +
  // include: listed
  + ')' AS wrong
