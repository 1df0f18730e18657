// enterprise.createDatabase(name :: STRING) :: ()
// Makes a database unless it is there (Neo4j Enterprise; run on the database `system`).
// mode: SCHEMA
CREATE DATABASE $name IF NOT EXISTS
