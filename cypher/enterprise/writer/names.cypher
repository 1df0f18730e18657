// enterprise.names(role :: STRING, database :: STRING) :: ()
// Lets a role write labels, types and properties that a database does not know yet.
// mode: SCHEMA
GRANT NAME MANAGEMENT ON DATABASE $database TO $role
