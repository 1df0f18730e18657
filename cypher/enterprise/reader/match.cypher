// enterprise.match(role :: STRING, database :: STRING) :: ()
// Lets a role read all of a database.
// mode: SCHEMA
GRANT MATCH {*} ON GRAPH $database TO $role
