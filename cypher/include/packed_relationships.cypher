// A list of relationships of a knowledge graph in a packed row: the triples.
[one IN column | {id: one.id, head: startNode(one).name, relation: type(one), tail: endNode(one).name,
 head_id: startNode(one).id, tail_id: endNode(one).id,
 head_type: coalesce(startNode(one).type, ''), tail_type: coalesce(endNode(one).type, '')}]
