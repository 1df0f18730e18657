// mindmap.documents(graph :: STRING) :: (name :: STRING, triples :: LIST OF MAP)
// Each entity of a knowledge graph that is the head of a triple, with all triples that it heads.
// mode: READ
MATCH (a:Entity {graph: $graph})-[r]->(b:Entity {graph: $graph})
WITH a, r, b ORDER BY a.key, type(r), b.key
WITH a, collect({id: r.id, head: a.name, relation: type(r), tail: b.name, head_id: a.id, tail_id: b.id,
                 head_type: coalesce(a.type, ''), tail_type: coalesce(b.type, '')}) AS triples
RETURN a.name AS name, triples
ORDER BY a.key
