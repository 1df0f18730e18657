// connect.complete(corpus :: STRING, complete :: BOOLEAN) :: (complete :: BOOLEAN)
// Notes whether all passages of a corpus are in its graphs; loading more makes it untrue.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
SET c.complete = $complete
RETURN c.complete AS complete
