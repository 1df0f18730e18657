// inspect.documents(corpus :: STRING) :: (id :: STRING, title :: STRING, source :: STRING, sources :: LIST OF STRING, characters :: INT, passages :: INT)
// The documents of a corpus by title and source.
// mode: READ
MATCH (d:Document {corpus: $corpus})
RETURN d.id AS id, d.title AS title, d.source AS source,
       [d.source] + COLLECT { MATCH (d)-[:HAS_SOURCE]->(s) WHERE s.source <> d.source RETURN s.source ORDER BY s.source } AS sources,
       d.characters AS characters, COUNT { (d)-[:HAS_PASSAGE]->() } AS passages
ORDER BY title, source, d.key
