// inspect.corpus_passages(corpus :: STRING, document = null :: STRING, limit = 1000 :: INT) :: (id :: STRING, document :: STRING, title :: STRING, apart :: STRING, position :: INT, start :: INT, end :: INT, text :: STRING, source :: STRING, page :: INT, section :: STRING, recognised :: BOOLEAN, columns :: LIST OF STRING)
// The passages of a corpus, or of its documents with this id, title or source, in their order.
// mode: READ
MATCH (d:Document {corpus: $corpus})
WHERE $document IS NULL OR $document IN [d.id, d.title, d.source]
MATCH (d)-[:HAS_PASSAGE]->(p:Passage)
// include: passage
ORDER BY title, document, position
LIMIT $limit
