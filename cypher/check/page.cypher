// check.page(document :: STRING, number :: INT, corpus :: STRING) :: (wrong :: STRING)
// Says that none of the documents has a page of this number, if so, and how many there are.
// mode: READ
MATCH (c:Corpus {name: $corpus})
// include: document
WITH collect(d) AS documents
WHERE size(documents) > 0
  AND none(d IN documents WHERE EXISTS { (d)-[:HAS_PAGE]->(:Page {number: $number}) })
WITH documents[0] AS d
RETURN 'the document ' + d.title + ' has no page ' + toString($number) + '; it has '
  + toString(coalesce(d.pages, 0)) + ' pages' AS wrong
