// loadKg.relationships(graph :: STRING, load :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Writes relationships that are not there yet: each row has id, head, relation and tail, where head and
// tail are ids of entities. Writes nothing once another load began.
// mode: WRITE
MATCH (g:KnowledgeGraph {name: $graph, load: $load})
// Holds the graph until this batch is committed, so that no two loads write one relationship.
SET g.load = $load
WITH g
UNWIND $rows AS row
MATCH (head:Entity {id: row.head})
MATCH (tail:Entity {id: row.tail})
CREATE (head)-[r:$(row.relation) {id: row.id, graph: $graph}]->(tail)
RETURN count(r) AS written
