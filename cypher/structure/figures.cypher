// structure.figures(table :: STRING, conditions = [] :: LIST OF MAP, column = 0 :: INT, group = 0 :: INT, part = '' :: STRING) :: (key :: STRING, title :: STRING, rows :: INT, valued :: INT, distinct :: INT, sum :: FLOAT, average :: FLOAT, max :: FLOAT, min :: FLOAT, cited :: LIST OF MAP)
// Figures over a table's data rows that fulfil all conditions, without those that sum up others: how
// many, and of a column's numbers the sum and so on; in all, or for each text, or part of a date
// (day, month, quarter, year), of the column `group`. `cited` are the first rows.
// mode: READ
MATCH (:Table {id: $table})-[:HAS_ROW]->(r:Row)
WHERE r.number > 0 AND r.total IS NULL AND all(wanted IN $conditions WHERE EXISTS {
  MATCH (r)-[:HAS_CELL]->(c:Cell {column: wanted.column})
  WHERE CASE
    WHEN wanted.by = 'text' THEN (c.norm IN wanted.texts) = (wanted.op <> '!=')
    WHEN wanted.by = 'month' AND c.date STARTS WITH '--' THEN substring(c.date, 2, 2) IN wanted.texts
    WHEN wanted.by = 'month' THEN substring(c.date, 5, 2) IN wanted.texts
    WHEN wanted.by = 'value' AND wanted.op = '=' THEN c.value = wanted.value
    WHEN wanted.by = 'value' AND wanted.op = '>' THEN c.value > wanted.value
    WHEN wanted.by = 'value' AND wanted.op = '>=' THEN c.value >= wanted.value
    WHEN wanted.by = 'value' AND wanted.op = '<' THEN c.value < wanted.value
    WHEN wanted.by = 'value' AND wanted.op = '<=' THEN c.value <= wanted.value
    // A date that is given in part, such as a month, is that of all dates that begin with it.
    WHEN c.date STARTS WITH wanted.date THEN wanted.op IN ['=', '>=', '<=']
    WHEN wanted.op STARTS WITH '>' THEN c.date > wanted.date
    ELSE wanted.op STARTS WITH '<' AND c.date < wanted.date
  END
})
CALL (r) {
  OPTIONAL MATCH (r)-[:HAS_CELL]->(g:Cell {column: $group})
  OPTIONAL MATCH (r)-[:HAS_CELL]->(v:Cell {column: $column})
  RETURN g, v
}
WITH r, v, CASE WHEN $group = 0 THEN ''
                WHEN $part = '' THEN g.norm
                WHEN g.date STARTS WITH '--' THEN CASE $part WHEN 'month' THEN left(g.date, 4) END
                WHEN $part = 'year' THEN left(g.date, 4)
                WHEN size(g.date) < 7 THEN null
                WHEN $part = 'month' THEN left(g.date, 7)
                WHEN $part = 'quarter'
                THEN left(g.date, 4) + ' Q' + toString((toInteger(substring(g.date, 5, 2)) + 2) / 3)
                ELSE g.date END AS key, g.text AS text
WHERE key IS NOT NULL AND ($group = 0 OR key <> '')
WITH r, v, key, text ORDER BY r.number
RETURN key, head(collect(text)) AS title, count(r) AS rows, count(v.value) AS valued,
       count(DISTINCT CASE v.norm WHEN '' THEN null ELSE v.norm END) AS distinct,
       sum(v.value) AS sum, avg(v.value) AS average, max(v.value) AS max, min(v.value) AS min,
       collect(r {.number, .title, .page})[..50] AS cited
ORDER BY key
