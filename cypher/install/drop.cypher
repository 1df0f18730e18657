// install.drop(name :: STRING, database :: STRING) :: ()
// Removes one installed procedure; runs on the database `system`.
// mode: WRITE
CALL apoc.custom.dropProcedure($name, $database)
