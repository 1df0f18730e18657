// enterprise.access(role :: STRING, database :: STRING) :: ()
// Lets a role open a database.
// mode: SCHEMA
GRANT ACCESS ON DATABASE $database TO $role
