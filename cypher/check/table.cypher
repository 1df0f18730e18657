// check.table(table :: ANY) :: (wrong :: STRING)
// Says that there is no table with this id, if so.
// mode: READ
OPTIONAL MATCH (t:Table {id: $table})
WITH t WHERE t IS NULL
RETURN 'there is no table with the id ' + toString($table) AS wrong
