// load.language(corpus :: STRING) :: (language :: STRING)
// The language that the full-text search of a corpus stems; no row where there is no such corpus.
// mode: READ
MATCH (c:Corpus {name: $corpus})
RETURN c.language AS language
