// connect.titles(corpus :: STRING) :: (document :: STRING, node :: STRING, title :: STRING)
// The documents of a corpus with their nodes and titles.
// mode: READ
MATCH (d:Document {corpus: $corpus})
RETURN d.id AS document, elementId(d) AS node, d.title AS title
