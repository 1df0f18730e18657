// load.ownIndexes(corpus :: STRING) :: (index :: STRING, vectors :: STRING)
// Makes the indexes of one large corpus, unless they are there; they are online a while later. One of its
// vectors is made once it has some.
// mode: WRITE
MATCH (c:Corpus|KgpImport {name: $corpus})
// include: own_indexes
RETURN 'kgp_passage_' + c.scope AS index, CASE WHEN indexed THEN 'kgp_vectors_' + c.scope END AS vectors
