// load.ownIndexesState(corpus :: STRING, large :: INT) :: (own :: BOOLEAN, moving :: BOOLEAN, large :: BOOLEAN)
// Whether a corpus is searched by indexes of its own, whether it is on its way there, and whether it
// has so many passages that it should be; one that was on its way and lost passages counts too.
// Of a corpus that is not there nothing is so.
// mode: READ
OPTIONAL MATCH (c:Corpus {name: $corpus})
RETURN coalesce(c.shelf = c.scope, false) AS own, coalesce(c.moving, false) AS moving,
       coalesce(c.shelf = c.scope, false) OR COUNT { MATCH (:Passage {corpus: c.name}) } >= $large OR EXISTS {
         MATCH (p:Passage {corpus: c.name}) WHERE toUpper(left(c.scope, 1)) + substring(c.scope, 1) + 'Passage' IN labels(p)
       } AS large
