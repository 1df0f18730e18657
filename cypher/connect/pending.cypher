// connect.pending(corpus :: STRING, graph :: STRING) :: (passages :: INT, pending :: LIST OF STRING)
// How many passages a corpus has, and those (by id, in order) that are not in one of its graphs (keywords,
// entities) yet.
// mode: READ
MATCH (p:Passage {corpus: $corpus})
WITH p.id AS id, CASE $graph WHEN 'keywords' THEN p.inKeywordGraph IS NULL ELSE p.linkedBy IS NULL END AS new
WITH count(*) AS passages, collect(CASE WHEN new THEN id END) AS pending
UNWIND CASE pending WHEN [] THEN [null] ELSE pending END AS id
WITH passages, id ORDER BY id
RETURN passages, collect(id) AS pending
