// upgrade.0003TableLabels(batch = 5000 :: INT) :: (changed :: INT)
// Renames the printed number of a table, a text, to `label`, and its list of pages to `pageNumbers`:
// `number` and `pages` are counts and places on other labels.
// mode: WRITE
MATCH (t:Table)
WHERE t.number IS NOT NULL OR t.pages IS NOT NULL
CALL (t) {
  SET t.label = t.number, t.pageNumbers = t.pages
  REMOVE t.number, t.pages
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS changed
