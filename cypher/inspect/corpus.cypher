// inspect.corpus(corpus :: STRING) :: (passages :: INT, encoder :: STRING, dimension :: INT, connected :: LIST OF STRING, unconnected :: INT)
// A corpus as the later stages find it: its passages, its encoder, which graphs it has (keywords,
// entities, similarity, mdr), and how many passages are not in all of these (in none where there is
// no graph, or where one is being made or was left unfinished).
// mode: READ
MATCH (c:Corpus {name: $corpus})
WITH c, coalesce(c.connected, []) AS connected
WITH c, connected, size(connected) = 0 OR size(coalesce(c.making, [])) > 0 AS unfinished
CALL (c, connected, unfinished) {
  MATCH (p:Passage {corpus: c.name})
  RETURN count(p) AS passages,
         sum(CASE WHEN unfinished
                    OR ('keywords' IN connected AND p.inKeywordGraph IS NULL)
                    OR ('entities' IN connected AND p.linkedBy IS NULL)
                    OR ('similarity' IN connected AND p.embedding IS NULL)
                    OR ('mdr' IN connected AND p.mdrEmbedding IS NULL)
                  THEN 1 ELSE 0 END) AS unconnected
}
RETURN passages, c.encoder AS encoder, c.dimension AS dimension, connected, unconnected
