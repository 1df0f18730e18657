// mindmap.between(keys :: LIST OF STRING, graph :: STRING) :: (id :: STRING, head :: STRING, relation :: STRING, tail :: STRING, head_id :: STRING, tail_id :: STRING, head_type :: STRING, tail_type :: STRING)
// What a graph says among entities, given by their keys: a thousand triples at most.
// mode: READ
MATCH (a:Entity {graph: $graph})
WHERE a.key IN $keys
MATCH (b:Entity {graph: $graph})
WHERE b.key IN $keys
MATCH (a)-[r]->(b)
RETURN r.id AS id, a.name AS head, type(r) AS relation, b.name AS tail, a.id AS head_id,
       b.id AS tail_id, coalesce(a.type, '') AS head_type, coalesce(b.type, '') AS tail_type
ORDER BY id
LIMIT 1000
