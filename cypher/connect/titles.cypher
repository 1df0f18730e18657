// connect.titles(corpus :: STRING) :: (title :: STRING)
// The titles of a corpus's documents.
// mode: READ
MATCH (d:Document {corpus: $corpus})
RETURN DISTINCT d.title AS title
