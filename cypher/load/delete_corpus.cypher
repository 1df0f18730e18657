// load.deleteCorpus(corpus :: STRING) :: (corpora :: INT)
// Deletes the node of a corpus, last of all, so that a deletion cut short can be finished.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
DETACH DELETE c
RETURN count(*) AS corpora
