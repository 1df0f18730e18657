// traverse.mdrVectors(ids :: LIST OF STRING) :: (id :: STRING, vector :: LIST OF FLOAT)
// The vectors of passages by the corpus's MDR encoder, of those that have one.
// mode: READ
MATCH (p:Passage)
WHERE p.id IN $ids AND p.mdrEmbedding IS NOT NULL
RETURN p.id AS id, p.mdrEmbedding AS vector
