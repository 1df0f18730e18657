// structure.holding(tables :: LIST OF STRING, phrases :: LIST OF STRING) :: (table :: STRING, phrases :: LIST OF STRING)
// Which of these tables have data cells that say one of the phrases (in normal form), and which.
// mode: READ
UNWIND $tables AS id
UNWIND $phrases AS phrase
MATCH (c:Cell {table: id, norm: phrase})
WHERE NOT c.header
RETURN id AS table, collect(DISTINCT phrase) AS phrases
