// inspect.corpus(corpus :: STRING) :: (passages :: INT, encoder :: STRING, dimension :: INT, connected :: LIST OF STRING, unconnected :: INT)
// A corpus as the later stages find it: its passages, its encoder, which graphs it has (keywords,
// similarity), and how many passages came after it was connected.
// mode: READ
MATCH (c:Corpus {name: $corpus})
CALL (c) {
  MATCH (p:Passage {corpus: c.name})
  RETURN count(p) AS passages, count(p.connected) AS seen
}
RETURN passages, c.encoder AS encoder, c.dimension AS dimension,
       coalesce(c.connected, []) AS connected,
       passages - seen AS unconnected
