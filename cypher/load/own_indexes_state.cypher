// load.ownIndexesState(corpus :: STRING, large :: INT) :: (own :: BOOLEAN, moving :: BOOLEAN, small :: BOOLEAN, large :: BOOLEAN, cjk :: BOOLEAN)
// Whether a corpus is searched by indexes of its own, whether it is on its way there, whether its vectors are
// compared one by one, whether it has so many passages that they should not be, and whether it has the first
// ones in Chinese, Japanese or Korean. No row
// for a corpus that is not there, or that has no language since it has never had a passage.
// mode: READ
MATCH (c:Corpus {name: $corpus}) WHERE c.language IS NOT NULL
RETURN coalesce(c.shelf = c.scope, false) AS own, coalesce(c.moving, false) AS moving,
       coalesce(c.small, false) AS small,
       coalesce(c.shelf = c.scope AND c.small IS NULL, false) OR COUNT { MATCH (:Passage {corpus: c.name}) } >= $large AS large,
       c.cjk IS NULL AND EXISTS { (:CjkPassage {corpus: $corpus}) } AS cjk
