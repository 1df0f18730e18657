// inspect.encoder(corpus :: STRING, graph = 'similarity' :: STRING) :: (encoder :: STRING, dimension :: INT, fingerprint :: STRING, settings :: STRING, indexed :: BOOLEAN)
// The encoder that the embeddings of a graph (similarity, mdr) of a corpus are from: its name or folder, its
// dimension and, for MDR, the first figures of its weights' SHA-256; no row where there is none. And what the graph
// was made with (null where it is not finished), and whether an index of its own has the embeddings, which there is
// of large corpora and `similarity` alone.
// mode: READ
MATCH (c:Corpus {name: $corpus})-[:HAS_GRAPH]->(g:Graph {type: $graph})
WHERE g.encoder IS NOT NULL
RETURN g.encoder AS encoder, g.dimension AS dimension, g.fingerprint AS fingerprint,
       CASE WHEN g.madeAt IS NOT NULL AND g.unfinished IS NULL THEN g.settings END AS settings,
       $graph = 'similarity' AND c.shelf = c.scope AND c.small IS NULL AS indexed
