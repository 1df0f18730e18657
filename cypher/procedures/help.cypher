// kgp.help() :: (procedure :: STRING, description :: STRING, signature :: STRING)
// What custom.kgp.* offers: every procedure with its description and signature.
// mode: READ
// example: CALL custom.kgp.help()
SHOW PROCEDURES YIELD name, signature, description
WHERE name STARTS WITH 'custom.kgp.'
RETURN name AS procedure, description, signature
ORDER BY procedure
