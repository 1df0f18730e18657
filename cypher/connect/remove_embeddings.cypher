// connect.removeEmbeddings(corpus :: STRING, graph = 'similarity' :: STRING, property = 'embedding' :: STRING, batch = 2000 :: INT) :: (removed :: INT)
// Removes the embeddings of a graph (similarity, mdr) from a corpus, in batches that commit as they go, then
// forgets their encoder.
// mode: WRITE
OPTIONAL MATCH (p:Passage {corpus: $corpus})
CALL (p) {
  REMOVE p[$property]
} IN TRANSACTIONS OF $batch ROWS
WITH count(p) AS removed
MATCH (:Corpus {name: $corpus})-[:HAS_GRAPH]->(g:Graph {type: $graph})
REMOVE g.encoder, g.dimension, g.fingerprint
RETURN removed
