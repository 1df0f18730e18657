// inspect.encoder(corpus :: STRING, graph = 'similarity' :: STRING) :: (encoder :: STRING, dimension :: INT, fingerprint :: STRING)
// The encoder that the embeddings of a graph (similarity, mdr) of a corpus are from: its name or folder, its
// dimension and, for MDR, the first figures of its weights' SHA-256; no row where there is none.
// mode: READ
MATCH (:Corpus {name: $corpus})-[:HAS_GRAPH]->(g:Graph {type: $graph})
WHERE g.encoder IS NOT NULL
RETURN g.encoder AS encoder, g.dimension AS dimension, g.fingerprint AS fingerprint
