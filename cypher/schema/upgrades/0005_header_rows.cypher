// upgrade.0005HeaderRows(batch = 20000 :: INT) :: (changed :: INT)
// Removes the mark of header rows and their cells, whose number is 0 or less: `header` is a text on
// other labels.
// mode: WRITE
MATCH (n:Row|Cell)
WHERE n.header IS NOT NULL
CALL (n) {
  REMOVE n.header
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS changed
