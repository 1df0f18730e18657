// check.document(document :: STRING, corpus :: STRING) :: (wrong :: STRING)
// Says that a corpus has no document with this id, title or source, if so.
// mode: READ
MATCH (c:Corpus {name: $corpus})
WITH c WHERE NOT EXISTS {
  // include: document
}
RETURN 'the corpus ' + $corpus + ' has no document with the id, title or source ' + $document AS wrong
