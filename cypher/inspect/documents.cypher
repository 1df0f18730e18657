// inspect.documents(corpus :: STRING) :: (id :: STRING, title :: STRING, source :: STRING, key :: STRING, characters :: INT, passages :: INT)
// The documents of a corpus by title and source.
// mode: READ
MATCH (d:Document {corpus: $corpus})
RETURN d.id AS id, d.title AS title, d.source AS source, d.key AS key,
       d.characters AS characters, COUNT { (d)-[:HAS_PASSAGE]->() } AS passages
ORDER BY title, source, key
