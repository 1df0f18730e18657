// load.indexState(corpus :: STRING) :: (scope :: STRING, language :: STRING, cjk :: BOOLEAN, indexed :: BOOLEAN)
// What the indexes of a corpus's own are named after, that of an import too, its language, whether some of
// it is Chinese, Japanese or Korean, and whether it is searched by vectors or has some.
// mode: READ
MATCH (c:Corpus|KgpImport {name: $corpus})
RETURN c.scope AS scope, c.language AS language,
       c.cjk OR EXISTS { (:CjkPassage {corpus: c.name}) } AS cjk,
       EXISTS {
         (c)-[:HAS_GRAPH]->(g:Graph {type: 'similarity'}) WHERE g.madeAt IS NOT NULL
       } OR EXISTS {
         MATCH (p:Passage {corpus: c.name}) WHERE p.embedding IS NOT NULL
       } AS indexed
