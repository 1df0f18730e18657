// install.awaitIndexes(seconds = 86400 :: INT) :: ()
// Waits until all indexes are online: that of a million vectors takes hours where all cores are busy.
// mode: READ
CALL db.awaitIndexes($seconds)
