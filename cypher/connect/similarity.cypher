// connect.similarity(corpus :: STRING, graph :: STRING) :: (settings :: STRING, indexed :: BOOLEAN)
// What a graph of a corpus (similarity, mdr) was made with (null where it is not finished), and whether an index of its
// own has the embeddings, which there is of large corpora and `similarity` alone.
// mode: READ
MATCH (c:Corpus {name: $corpus})
OPTIONAL MATCH (c)-[:HAS_GRAPH]->(g:Graph {type: $graph})
RETURN CASE WHEN g.madeAt IS NOT NULL AND g.unfinished IS NULL THEN g.settings END AS settings,
       $graph = 'similarity' AND c.shelf = c.scope AND c.small IS NULL AS indexed
