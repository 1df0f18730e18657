// enterprise.write(role :: STRING, database :: STRING) :: ()
// Lets a role write all of a database.
// mode: SCHEMA
GRANT WRITE ON GRAPH $database TO $role
