// loadKg.encoder(graph :: STRING, encoder :: STRING, dimension :: INT) :: (encoder :: STRING, dimension :: INT)
// Writes down which encoder a knowledge graph is embedded with, unless one is there, and returns the
// one there.
// mode: WRITE
MATCH (g:KnowledgeGraph {name: $graph})
SET g.encoder = coalesce(g.encoder, $encoder), g.dimension = coalesce(g.dimension, $dimension)
RETURN g.encoder AS encoder, g.dimension AS dimension
