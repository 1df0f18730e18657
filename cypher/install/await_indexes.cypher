// install.awaitIndexes(seconds = 300 :: INT) :: ()
// Waits until all indexes are online.
// mode: READ
CALL db.awaitIndexes($seconds)
