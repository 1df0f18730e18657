// kgp.help() :: (procedure :: STRING, description :: STRING, signature :: STRING, example :: STRING)
// What custom.kgp.* offers: every procedure with its description, signature and an example.
// mode: READ
// example: CALL custom.kgp.help()
UNWIND
  // include: procedures
  AS one
RETURN one.name AS procedure, one.description AS description, one.signature AS signature,
       one.example AS example
ORDER BY procedure
