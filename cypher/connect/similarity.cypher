// connect.similarity(corpus :: STRING, graph :: STRING) :: (passages :: INT, settings :: STRING, indexed :: BOOLEAN)
// How many passages of a corpus have an embedding of a graph (similarity, mdr), what this graph was made with (null
// where it is not finished), and whether an index has the embeddings, which there is of large corpora and
// `similarity` alone.
// mode: READ
MATCH (c:Corpus {name: $corpus})
OPTIONAL MATCH (c)-[:HAS_GRAPH]->(g:Graph {type: $graph})
CALL (c) {
  MATCH (p:Passage {corpus: c.name})
  WHERE CASE $graph WHEN 'mdr' THEN p.mdrEmbedding ELSE p.embedding END IS NOT NULL
  RETURN count(p) AS passages
}
RETURN passages, CASE WHEN g.madeAt IS NOT NULL AND g.unfinished IS NULL THEN g.settings END AS settings,
       $graph = 'similarity' AND c.shelf = c.scope AS indexed
