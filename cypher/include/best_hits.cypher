// The passages `n` of the best 100 of `hits`, scores by passage id.
UNWIND keys($hits) AS id
WITH id
ORDER BY $hits[id] DESC, id
LIMIT 100
MATCH (n:Passage {id: id})
