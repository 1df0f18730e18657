// loadKg.unembedded(graph :: STRING, encoder :: STRING, dimension :: INT) :: (encoder :: STRING, dimension :: INT, entities :: LIST OF MAP)
// Writes down which encoder a knowledge graph is embedded with, unless one is there. Returns the one
// there, and the ids and names of the entities that have no embedding.
// mode: WRITE
MATCH (g:KnowledgeGraph {name: $graph})
SET g.encoder = coalesce(g.encoder, $encoder), g.dimension = coalesce(g.dimension, $dimension)
RETURN g.encoder AS encoder, g.dimension AS dimension, COLLECT {
  MATCH (e:Entity {graph: $graph})
  WHERE e.key IS NOT NULL AND e.embedding IS NULL
  RETURN {id: e.id, name: e.name} ORDER BY e.id
} AS entities
