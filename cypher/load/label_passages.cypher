// load.labelPassages(corpus :: STRING, batch = 2000 :: INT) :: (passages :: INT)
// Gives all passages of a corpus the labels that its own indexes are on, and takes away that of its
// language once a large corpus has moved, in batches that commit as they go.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
MATCH (p:Passage {corpus: $corpus})
CALL (c, p) {
  SET p:$(toUpper(left(c.scope, 1)) + substring(c.scope, 1) + 'Passage')
  FOREACH (_ IN CASE WHEN p:CjkPassage THEN [1] ELSE [] END |
    SET p:$(toUpper(left(c.scope, 1)) + substring(c.scope, 1) + 'CjkPassage'))
  FOREACH (language IN CASE WHEN c.shelf = c.scope AND c.small IS NULL THEN [c.language] ELSE [] END |
    REMOVE p:$(toUpper(left(language, 1)) + substring(language, 1) + 'Passage'))
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS passages
