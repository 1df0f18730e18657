// check.passage(passage :: ANY) :: (wrong :: STRING)
// Says that there is no passage with this id, if so.
// mode: READ
OPTIONAL MATCH (p:Passage {id: $passage})
WITH p WHERE p IS NULL
RETURN 'there is no passage with the id ' + toString($passage) AS wrong
