// check.tableNumber(document :: STRING, number :: STRING, corpus :: STRING) :: (wrong :: STRING)
// Says that none of the documents has a table of this number, if so, and how many there are.
// mode: READ
MATCH (c:Corpus {name: $corpus})
// include: document
WITH collect(d) AS documents
WHERE size(documents) > 0 AND none(d IN documents WHERE EXISTS {
  MATCH (d)-[:HAS_TABLE]->(t:Table)
  WHERE toLower(t.label) = toLower($number) OR toString(t.order) = $number
})
WITH documents[0] AS d
RETURN 'the document ' + d.title + ' has no table ' + $number + '; it has '
  + toString(coalesce(d.tables, 0)) + ' tables' AS wrong
