// explore.graph(graph :: STRING) :: (encoder :: STRING, relations :: LIST OF STRING, names :: LIST OF STRING)
// The encoder of a knowledge graph, its relationship types (those of the database where the load did not
// write them down) and a sample of its names, some for each first letter; no row without the graph.
// mode: READ
MATCH (g:KnowledgeGraph {name: $graph})
WITH g, coalesce(g.relations, COLLECT {
  CALL db.relationshipTypes() YIELD relationshipType
  RETURN relationshipType ORDER BY relationshipType LIMIT 2000
}) AS relations
CALL (g) {
  UNWIND split('0 2 a b c d e f g h i j k l m n o p q r s t u v w y z', ' ') AS letter
  CALL (g, letter) {
    MATCH (e:Entity {graph: g.name}) WHERE e.key >= letter
    RETURN e.name AS name LIMIT 4
  }
  RETURN collect(DISTINCT name) AS names
}
RETURN g.encoder AS encoder, relations, names
