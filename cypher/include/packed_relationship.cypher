// A relationship of a knowledge graph in a packed row: the triple.
{id: column.id, head: startNode(column).name, relation: type(column), tail: endNode(column).name,
 head_id: startNode(column).id, tail_id: endNode(column).id,
 head_type: coalesce(startNode(column).type, ''), tail_type: coalesce(endNode(column).type, '')}
