// enterprise.constraints(role :: STRING, database :: STRING) :: ()
// Lets a role make the constraints of a database.
// mode: SCHEMA
GRANT CONSTRAINT MANAGEMENT ON DATABASE $database TO $role
