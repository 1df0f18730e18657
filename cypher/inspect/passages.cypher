// inspect.passages(ids :: LIST OF STRING, corpus = null :: STRING) :: (id :: STRING, document :: STRING, title :: STRING, apart :: STRING, position :: INT, start :: INT, end :: INT, text :: STRING, source :: STRING, page :: INT, section :: STRING, recognised :: BOOLEAN, columns :: LIST OF STRING)
// Passages by id, each with the title and source of its document; with `corpus`, of that one alone.
// mode: READ
MATCH (d:Document)-[:HAS_PASSAGE]->(p:Passage)
WHERE p.id IN $ids AND ($corpus IS NULL OR p.corpus = $corpus)
// include: passage
