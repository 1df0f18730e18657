// inspect.corpus(corpus :: STRING) :: (passages :: INT, encoder :: STRING, dimension :: INT, connected :: LIST OF STRING, unconnected :: INT)
// A corpus as the later stages find it: its passages, its encoder, which graphs it has (keywords,
// entities, similarity, mdr), and how many passages are not in all of these (in none where there is
// no graph, or where one is being made or was left unfinished).
// mode: READ
MATCH (c:Corpus {name: $corpus})
OPTIONAL MATCH (c)-[:HAS_GRAPH]->(g:Graph)
WITH c, g ORDER BY g.madeAt
WITH c, collect(CASE WHEN g.madeAt IS NOT NULL THEN g.type END) AS connected,
     coalesce(max(g.unfinished), false) AS unfinished,
     head(collect(CASE g.type WHEN 'similarity' THEN g END)) AS embedded
WITH c, connected, embedded, unfinished OR size(connected) = 0 AS unfinished
CALL (c, connected, unfinished) {
  // Not read one by one where all are known to be in their graphs.
  WITH c WHERE c.complete AND NOT unfinished
  RETURN COUNT { MATCH (:Passage {corpus: c.name}) } AS passages, 0 AS unconnected
  UNION ALL
  WITH c, connected, unfinished WHERE unfinished OR NOT coalesce(c.complete, false)
  OPTIONAL MATCH (p:Passage {corpus: c.name})
  RETURN count(p) AS passages,
         sum(CASE WHEN p IS NOT NULL AND (unfinished
                    OR ('keywords' IN connected AND p.inKeywordGraph IS NULL)
                    OR ('entities' IN connected AND p.linkedBy IS NULL)
                    OR ('similarity' IN connected AND p.raw IS NULL AND p.embedding IS NULL)
                    OR ('mdr' IN connected AND p.raw IS NULL AND p.mdrEmbedding IS NULL))
                  THEN 1 ELSE 0 END) AS unconnected
}
WITH connected, embedded, sum(passages) AS passages, sum(unconnected) AS unconnected
RETURN passages, embedded.encoder AS encoder, embedded.dimension AS dimension, connected, unconnected
