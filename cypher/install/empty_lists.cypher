// install.emptyLists(batch = 2000 :: INT) :: (changed :: INT)
// Gives tables without pages their empty list of pages, which an import of files leaves out.
// mode: WRITE
MATCH (t:Table)
WHERE t.pageNumbers IS NULL
CALL (t) {
  SET t.pageNumbers = []
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS changed
