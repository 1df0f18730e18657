// install.awaitIndexes(seconds = 3600 :: INT) :: ()
// Waits until all indexes are online.
// mode: READ
CALL db.awaitIndexes($seconds)
