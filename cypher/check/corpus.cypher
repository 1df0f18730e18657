// check.corpus(corpus :: STRING) :: (wrong :: STRING)
// Says that there is no corpus of this name, if so, and which there are.
// mode: READ
OPTIONAL MATCH (c:Corpus {name: $corpus})
WITH c WHERE c IS NULL
WITH COLLECT { MATCH (x:Corpus) RETURN x.name ORDER BY x.name } AS names
RETURN 'there is no corpus named ' + $corpus + ' (there are: ' +
  // include: listed
  + ')' AS wrong
