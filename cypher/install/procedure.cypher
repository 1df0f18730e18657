// install.procedure(signature :: STRING, statement :: STRING, database :: STRING, mode :: STRING, description :: STRING) :: ()
// Installs one statement as a procedure `custom.<name>`; runs on the database `system`.
// mode: WRITE
CALL apoc.custom.installProcedure($signature, $statement, $database, $mode, $description)
