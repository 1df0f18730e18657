// inspect.corpusNames() :: (name :: STRING)
// The names of all corpora.
// mode: READ
MATCH (c:Corpus)
RETURN c.name AS name
ORDER BY name
