// Relationships of a knowledge graph in a packed row: the triples, with the ids and types of their entities.
[r IN column | {
  id: r.id, head: startNode(r).name, relation: type(r), tail: endNode(r).name,
  head_id: startNode(r).id, tail_id: endNode(r).id,
  head_type: coalesce(startNode(r).type, ''), tail_type: coalesce(endNode(r).type, '')
}]
