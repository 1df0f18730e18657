// connect.pending(corpus :: STRING, graph :: STRING) :: (passages :: INT, pending :: LIST OF STRING)
// How many passages a corpus has, and those (by id, in order) that are not in one of its graphs (keywords,
// entities) yet.
// mode: READ
MATCH (p:Passage {corpus: $corpus})
WITH count(*) AS passages, collect(CASE WHEN
    CASE $graph WHEN 'keywords' THEN p.inKeywordGraph IS NULL ELSE p.linkedBy IS NULL END
  THEN p.id END) AS pending
RETURN passages, apoc.coll.sort(pending) AS pending
