// install.stored() :: (name :: STRING, statement :: STRING)
// The installed custom.kgp.* procedures with the statements behind them.
// mode: READ
CALL apoc.custom.list() YIELD type, name, statement
WHERE type = 'procedure' AND name STARTS WITH 'kgp.'
RETURN name, statement
ORDER BY name
