// connect.encoder(corpus :: STRING, encoder :: STRING, dimension :: INT, graph = 'similarity' :: STRING, fingerprint = null :: STRING) :: (encoder :: STRING, dimension :: INT, fingerprint :: STRING)
// Writes down which encoder the embeddings of a graph (similarity, mdr) are from, unless one is there, and
// returns the one there; the same weights (`fingerprint`) in another folder are found there from now on.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
// Holds the corpus, so that two runs make one node.
SET c.complete = false
MERGE (c)-[:HAS_GRAPH]->(g:Graph {type: $graph})
SET g.corpus = c.name, g.dimension = coalesce(g.dimension, $dimension),
    g.fingerprint = coalesce(g.fingerprint, $fingerprint),
    g.encoder = CASE WHEN g.encoder IS NULL OR g.fingerprint = $fingerprint THEN $encoder ELSE g.encoder END
RETURN g.encoder AS encoder, g.dimension AS dimension, g.fingerprint AS fingerprint
