// enterprise.createRole(role :: STRING) :: ()
// Makes a role unless it is there (Neo4j Enterprise; run on the database `system`).
// mode: SCHEMA
CREATE ROLE $role IF NOT EXISTS
