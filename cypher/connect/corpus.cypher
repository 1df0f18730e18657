// connect.corpus(corpus :: STRING) :: (passages :: INT, encoder :: STRING, dimension :: INT, embedded :: INT)
// A corpus as `connect` finds it: its passages, its encoder, and how many passages are embedded.
// mode: READ
MATCH (c:Corpus {name: $corpus})
CALL (c) {
  MATCH (p:Passage {corpus: c.name})
  RETURN count(p) AS passages, count(p.embedding) AS embedded
}
RETURN passages, c.encoder AS encoder, c.dimension AS dimension, embedded
