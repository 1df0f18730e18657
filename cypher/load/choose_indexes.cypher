// load.chooseIndexes(corpus :: STRING, own :: BOOLEAN, small = false :: BOOLEAN, moving = false :: BOOLEAN) :: (shelf :: STRING)
// Sets where a corpus is searched from now on: in indexes of its own (a `small` one has none of
// vectors; those for Chinese, Japanese and Korean are there if it has such passages), or in that of its language.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
SET c.shelf = CASE WHEN $own THEN c.scope ELSE c.language END,
    c.small = CASE WHEN $small THEN true END,
    c.cjk = CASE WHEN $own AND EXISTS { (:CjkPassage {corpus: $corpus}) } THEN true END,
    c.moving = CASE WHEN $moving THEN true END
RETURN c.shelf AS shelf
