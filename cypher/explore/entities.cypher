// explore.entities(entities :: LIST OF STRING) :: (id :: STRING, name :: STRING, type :: STRING, aliases :: LIST OF STRING)
// Entities by id, with their other names.
// mode: READ
UNWIND $entities AS id
MATCH (e:Entity {id: id})
RETURN id, e.name AS name, coalesce(e.type, '') AS type, coalesce(e.aliases, []) AS aliases
