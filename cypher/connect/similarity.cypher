// connect.similarity(corpus :: STRING, type :: STRING) :: (passages :: INT, settings :: STRING, indexed :: BOOLEAN)
// How many passages of a corpus have an embedding, what its finished similarity graph was made with
// (null where none is finished), and whether an index has the embeddings, which there is of large
// corpora and SIMILAR_ST alone.
// mode: READ
MATCH (c:Corpus {name: $corpus})
CALL (c) {
  MATCH (p:Passage {corpus: c.name})
  WHERE CASE $type WHEN 'SIMILAR_MDR' THEN p.mdrEmbedding ELSE p.embedding END IS NOT NULL
  RETURN count(p) AS passages
}
RETURN passages,
       CASE WHEN 'similarity' IN c.connected AND NOT 'similarity' IN coalesce(c.making, [])
         THEN c.similaritySettings END AS settings,
       $type = 'SIMILAR_ST' AND c.shelf = c.scope AS indexed
