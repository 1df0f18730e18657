// loadKg.entities(graph :: STRING, load :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Writes entities: each row has id, key, name, aliases, type and labels. What is there keeps its name
// and type, and gets the aliases and labels that it lacks. Writes nothing once another load began.
// mode: WRITE
MATCH (g:KnowledgeGraph {name: $graph, load: $load})
// Holds the graph until this batch is committed.
SET g.load = $load
WITH g
UNWIND $rows AS row
MERGE (e:Entity {id: row.id})
ON CREATE SET e.graph = $graph, e.scope = g.scope, e.key = row.key, e.name = row.name,
              e.title = row.name, e.aliases = row.aliases, e.type = row.type
ON MATCH SET e.aliases =
               e.aliases + [a IN row.aliases WHERE NOT a IN e.aliases AND a <> e.name],
             e.type = CASE e.type WHEN '' THEN row.type ELSE e.type END
SET e:$(row.labels)
RETURN count(e) AS written
