// inspect.state(corpus :: STRING) :: (encoder :: STRING, connected :: LIST OF STRING, complete :: BOOLEAN)
// What a question needs to know of a corpus, at a cost that does not grow with it: its encoder, which
// graphs it has, and whether all of its passages are known to be in them.
// mode: READ
MATCH (c:Corpus {name: $corpus})
RETURN c.encoder AS encoder, coalesce(c.connected, []) AS connected,
       coalesce(c.complete, false) AS complete
