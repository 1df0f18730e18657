// connect.encoder(corpus :: STRING, encoder :: STRING, dimension :: INT) :: (encoder :: STRING, dimension :: INT)
// Writes down which encoder a corpus is embedded with, unless one is there, and returns the one there.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
SET c.encoder = coalesce(c.encoder, $encoder), c.dimension = coalesce(c.dimension, $dimension)
RETURN c.encoder AS encoder, c.dimension AS dimension
