// kgp.cells(table :: ANY, configuration = {} :: MAP) :: (cell :: NODE, rowTitle :: STRING, columnTitle :: STRING, text :: STRING, value :: FLOAT)
// The cells of a table (a node or its id) where a row and a column meet.
// mode: READ
// task: pages and tables
// check: configuration, table
// option: row = '' :: STRING, the number of a row or the text of a cell in it; all rows when empty
// option: column = '' :: STRING, the number of a column, its name or a part of it; all columns when empty
// example: MATCH (t:Table {corpus: 'demo'}) WITH t LIMIT 1 CALL custom.kgp.cells(t, {row: '1', column: '2'}) YIELD cell, rowTitle, columnTitle, text, value RETURN cell, rowTitle, columnTitle, text, value
MATCH (t:Table {id: $table})
// In the form in which names are compared: the words of letters and digits in lower case.
WITH t, [text IN [toLower($configuration.row), toLower($configuration.column)] |
  trim(reduce(norm = '', word IN split(text, [sign IN split(text, '') WHERE NOT sign =~ '[\\p{L}\\p{N}]']) |
    norm + CASE word WHEN '' THEN '' ELSE ' ' + word END))] AS norms
WITH t, norms[0] AS row, norms[1] AS wanted
MATCH (t)-[:HAS_COLUMN]->(c:Column)
WITH t, row, collect({column: c, fit: CASE
       WHEN wanted = '' THEN 1
       WHEN c.norm = wanted THEN 3
       WHEN toString(c.order) = wanted THEN 2
       WHEN ' ' + c.norm + ' ' CONTAINS ' ' + wanted + ' ' THEN 1
       ELSE 0 END}) AS fits
WITH t, row, fits, reduce(best = 1, f IN fits | CASE WHEN f.fit > best THEN f.fit ELSE best END) AS best
WITH t, row, [f IN fits WHERE f.fit = best | f.column] AS columns
MATCH (t)-[:HAS_ROW]->(r:Row)
WHERE r.number > 0
  AND ($configuration.row = '' OR toString(r.number) = $configuration.row
       OR EXISTS { (r)-[:HAS_CELL]->(n:Cell) WHERE n.norm = row })
MATCH (r)-[:HAS_CELL]->(cell:Cell)<-[:HAS_CELL]-(c:Column)
WHERE c IN columns
RETURN cell, r.title AS rowTitle, c.title AS columnTitle, cell.text AS text, cell.value AS value
ORDER BY r.order, c.order
