// enterprise.indexes(role :: STRING, database :: STRING) :: ()
// Lets a role make and drop the indexes of a database: each large corpus has its own.
// mode: SCHEMA
GRANT INDEX MANAGEMENT ON DATABASE $database TO $role
