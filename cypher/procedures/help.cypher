// kgp.help() :: (task :: STRING, procedure :: STRING, description :: STRING, signature :: STRING, example :: STRING)
// What custom.kgp.* offers: every procedure, by what it is for, with description, signature, example.
// mode: READ
// task: see
// example: CALL custom.kgp.help()
UNWIND
  // include: procedures
  AS one
RETURN one.task AS task, one.name AS procedure, one.description AS description,
       one.signature AS signature, one.example AS example
ORDER BY task, procedure
