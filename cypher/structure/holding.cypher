// structure.holding(tables :: LIST OF STRING, phrases :: LIST OF STRING) :: (table :: STRING, phrases :: LIST OF STRING)
// Which of these tables have data cells that say one of the phrases (in normal form), and which.
// mode: READ
UNWIND $tables AS id
UNWIND $phrases AS phrase
MATCH (c:Cell {table: id, norm: phrase})
WHERE c.row > 0
RETURN id AS table, collect(DISTINCT phrase) AS phrases
