// inspect.packed() :: (rows :: LIST OF ANY)
// The rows of another statement as one record, each a list of its columns. `Database.read_packed` puts
// that statement in the place of the inner line, and its columns into the brackets.
// mode: READ
CALL () {
  RETURN 1 AS column
}
RETURN collect([column]) AS rows
