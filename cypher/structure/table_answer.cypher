// structure.tableAnswer(table :: STRING, sets :: LIST OF MAP, column = 0 :: INT, to = 0 :: INT) :: (figures :: LIST OF MAP, difference :: FLOAT, countDifference :: INT, span :: FLOAT)
// What the cells of a column say in one or two sets of data rows: the texts, how many rows and
// different texts, sum, average, highest, lowest, and the texts that most and fewest rows have; how
// far the two sets are apart; and how far the numbers of columns `column` and `to` are apart.
// A set has the rows that meet all `conditions` (a cell's text, value or date; column 0 is the row's
// number); with `like`, other rows with the same cell in that column; `pick` keeps those with the nth
// highest or lowest key; `shift` goes on to the next or previous row.
// mode: READ
MATCH (t:Table {id: $table})
UNWIND range(0, size($sets) - 1) AS at
WITH t, at, $sets[at] AS wanted
CALL (t, wanted) {
  OPTIONAL MATCH (t)-[:HAS_ROW]->(r:Row {header: false})
  WHERE all(c IN wanted.conditions WHERE
    c.column = 0 AND (c.op = '=' AND r.number = c.value OR c.op = '<' AND r.number < c.value
                      OR c.op = '>' AND r.number > c.value)
    OR EXISTS {
      MATCH (r)-[:HAS_CELL]->(x:Cell {column: c.column})
      WHERE CASE c.by + c.op
        WHEN 'text=' THEN x.norm IN c.texts
        WHEN 'text!=' THEN NOT x.norm IN c.texts
        WHEN 'textcontains' THEN any(piece IN c.texts WHERE ' ' + x.norm + ' ' CONTAINS piece)
        WHEN 'value=' THEN x.value = c.value
        WHEN 'value!=' THEN x.value <> c.value
        WHEN 'value>' THEN x.value > c.value
        WHEN 'value>=' THEN x.value >= c.value
        WHEN 'value<' THEN x.value < c.value
        WHEN 'value<=' THEN x.value <= c.value
        WHEN 'date=' THEN x.date STARTS WITH c.date
        WHEN 'date>' THEN x.date > c.date AND NOT x.date STARTS WITH c.date
        WHEN 'date>=' THEN x.date >= c.date
        WHEN 'date<' THEN x.date < c.date
        WHEN 'date<=' THEN x.date < c.date OR x.date STARTS WITH c.date
        ELSE false END
    })
  RETURN collect(r) AS kept
}
CALL (kept, wanted) {
  UNWIND CASE wanted.like WHEN 0 THEN [] ELSE kept END AS r
  MATCH (r)-[:HAS_CELL]->(x:Cell {column: wanted.like})
  WHERE x.norm <> ''
  RETURN collect(DISTINCT x.norm) AS shared
}
CALL (t, kept, shared, wanted) {
  MATCH (t)-[:HAS_ROW]->(r:Row {header: false})
  WHERE wanted.like = 0 AND r IN kept
     OR wanted.like > 0 AND NOT r IN kept
        AND EXISTS { (r)-[:HAS_CELL]->(x:Cell {column: wanted.like}) WHERE x.norm IN shared }
  OPTIONAL MATCH (r)-[:HAS_CELL]->(x:Cell {column: wanted.pick.column})
  WITH r, CASE wanted.pick.by WHEN 'order' THEN r.number WHEN 'value' THEN x.value
                              WHEN 'date' THEN x.date END AS key
  ORDER BY key
  RETURN collect({row: r, key: key}) AS keyed, collect(DISTINCT key) AS keys
}
WITH t, at, wanted, keyed, keys, wanted.pick.nth AS nth
WITH t, at, wanted, keyed,
     CASE WHEN nth IS NULL OR nth > size(keys) THEN null
          WHEN wanted.pick.highest THEN keys[size(keys) - nth] ELSE keys[nth - 1] END AS best
WITH t, at, wanted, [e IN keyed WHERE wanted.pick IS NULL OR e.key = best |
                     e.row.number + wanted.shift] AS numbers
CALL (t, numbers) {
  MATCH (t)-[:HAS_ROW]->(r:Row {header: false})
  WHERE r.number IN numbers
  OPTIONAL MATCH (r)-[:HAS_CELL]->(x:Cell {column: $column})
  OPTIONAL MATCH (r)-[:HAS_CELL]->(y:Cell {column: $to})
  WITH r, x, y ORDER BY r.number
  RETURN count(r) AS count, sum(x.value) AS sum, avg(x.value) AS average,
         max(x.value) AS highest, min(x.value) AS lowest, count(x.value) AS valued,
         collect(DISTINCT x.value) AS values, collect(DISTINCT y.value) AS ends,
         collect({row: r.number, name: r.title, page: r.page, text: x.text, norm: x.norm}) AS cells
}
CALL (cells) {
  UNWIND cells AS c
  WITH c.norm AS norm, count(*) AS rows, collect(c.text)[0] AS text, min(c.row) AS first
  WHERE norm <> ''
  WITH norm, rows, text, first ORDER BY first
  WITH collect({text: text, rows: rows}) AS groups, max(rows) AS most, min(rows) AS fewest
  RETURN size(groups) AS distinct, [g IN groups WHERE g.rows = most | g.text] AS common,
         [g IN groups WHERE g.rows = fewest | g.text] AS rare
}
WITH at, values, ends, {count: count, distinct: distinct, sum: sum, average: average, max: highest,
     min: lowest, valued: valued, common: common, rare: rare, cells: cells} AS figure ORDER BY at
WITH collect(figure) AS figures, collect(values) AS values, collect(ends) AS ends
RETURN figures,
       CASE WHEN size(values) = 2 AND size(values[0]) = 1 AND size(values[1]) = 1
            THEN abs(values[0][0] - values[1][0]) END AS difference,
       abs(figures[0].count - figures[size(figures) - 1].count) AS countDifference,
       CASE WHEN size(values[0]) = 1 AND size(ends[0]) = 1
            THEN abs(ends[0][0] - values[0][0]) END AS span
