// load.changed(corpus :: STRING) :: (corpus :: STRING)
// Notes that the documents of a corpus change: `connect` makes its keyword and entity graph again.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
// include: changed
RETURN c.name AS corpus
