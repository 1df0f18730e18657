// load.chooseIndexes(corpus :: STRING, own :: BOOLEAN, moving = false :: BOOLEAN) :: (shelf :: STRING)
// Sets where a corpus is searched from now on: in indexes of its own, or in those of its language.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
SET c.shelf = CASE WHEN $own THEN c.scope ELSE c.language END,
    c.moving = CASE WHEN $moving THEN true END
RETURN c.shelf AS shelf
