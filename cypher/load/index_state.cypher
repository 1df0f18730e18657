// load.indexState(corpus :: STRING) :: (scope :: STRING, language :: STRING, indexed :: BOOLEAN)
// What the indexes of a corpus's own are named after, that of an import too, its language, and whether
// it is searched by vectors or has some.
// mode: READ
MATCH (c:Corpus|KgpImport {name: $corpus})
RETURN c.scope AS scope, c.language AS language,
       EXISTS {
         (c)-[:HAS_GRAPH]->(g:Graph {type: 'similarity'}) WHERE g.madeAt IS NOT NULL
       } OR EXISTS {
         MATCH (p:Passage {corpus: c.name}) WHERE p.embedding IS NOT NULL
       } AS indexed
