// mindmap.reach(sources :: LIST OF STRING, targets :: LIST OF STRING, graph :: STRING) :: (source :: STRING, target :: STRING, start :: STRING, weight :: FLOAT, triples :: LIST OF MAP)
// The shortest way within two hops from each source entity to each target entity (by id), in either
// direction. The weight is 1 / hops², divided by 1 + ln(1 + degree) of each entity but the last.
// mode: READ
MATCH (a:Entity {graph: $graph})
WHERE a.id IN $sources
MATCH (b:Entity {graph: $graph})
WHERE b.id IN $targets AND b <> a
MATCH path = shortestPath((a)-[*..2]-(b))
WITH a, b, relationships(path) AS edges,
     reduce(spread = 1.0, n IN nodes(path)[..-1] | spread * (1 + log(1 + COUNT { (n)--() }))) AS spread
RETURN a.id AS source, b.id AS target, a.name AS start,
       1 / (size(edges) * size(edges) * spread) AS weight,
       [e IN edges | {id: e.id, head: startNode(e).name, relation: type(e), tail: endNode(e).name,
                      head_id: startNode(e).id, tail_id: endNode(e).id}] AS triples
ORDER BY source, target
