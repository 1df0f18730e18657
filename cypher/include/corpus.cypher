// Raises an error unless there is a corpus named $corpus. Leaves it as `c`.
OPTIONAL MATCH (c:Corpus {name: $corpus})
CALL apoc.util.validate(c IS NULL, '%s', [CASE WHEN c IS NULL THEN
  'there is no corpus named ' + $corpus + ' (there are: '
  + apoc.text.join(COLLECT { MATCH (x:Corpus) RETURN x.name ORDER BY x.name }, ', ') + ')' END])
