// The triple of a relationship `r` of a knowledge graph, with the ids and types of its entities. An expression.
{id: r.id, head: startNode(r).name, relation: type(r), tail: endNode(r).name,
 head_id: startNode(r).id, tail_id: endNode(r).id,
 head_type: coalesce(startNode(r).type, ''), tail_type: coalesce(endNode(r).type, '')}
