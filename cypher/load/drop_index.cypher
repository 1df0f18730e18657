// load.dropIndex(name :: STRING) :: ()
// Drops an index, at once whatever its size; that there is none is no error.
// mode: SCHEMA
DROP INDEX $name IF EXISTS;
