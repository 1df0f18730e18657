// explore.graph(graph :: STRING) :: (encoder :: STRING, relations :: LIST OF STRING)
// The encoder of a knowledge graph, and the relationship types of the database; no row without the
// graph.
// mode: READ
MATCH (g:KnowledgeGraph {name: $graph})
CALL () {
  CALL db.relationshipTypes() YIELD relationshipType
  WITH relationshipType ORDER BY relationshipType LIMIT 2000
  RETURN collect(relationshipType) AS relations
}
RETURN g.encoder AS encoder, relations
