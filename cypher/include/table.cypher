// Raises an error unless there is a table $table, a node or its id. Leaves it as `t`.
WITH coalesce(apoc.any.property($table, 'id'), $table) AS id
OPTIONAL MATCH (t:Table {id: id})
CALL apoc.util.validate(t IS NULL, 'there is no table with the id %s', [id])
