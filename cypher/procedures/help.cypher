// kgp.help() :: (procedure :: STRING, description :: STRING, signature :: STRING, example :: STRING)
// What custom.kgp.* offers: every procedure with its description, signature and an example.
// mode: READ
// example: CALL custom.kgp.help()
// Not SHOW PROCEDURES: that lists a dropped procedure until the server restarts.
CALL apoc.custom.list() YIELD type, name, description, statement
WHERE type = 'procedure' AND name STARTS WITH 'kgp.'
WITH name, description, split(statement, '\n') AS lines
RETURN 'custom.' + name AS procedure, description,
       replace(lines[0], '// ', 'custom.') AS signature,
       replace(coalesce([line IN lines WHERE line STARTS WITH '// example: '][0], ''), '// example: ', '')
         AS example
ORDER BY procedure
