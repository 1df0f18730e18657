// structure.structured(corpus :: STRING) :: (pages :: BOOLEAN, tables :: BOOLEAN)
// Whether a corpus has any page and any table; without them every question is about content.
// mode: READ
RETURN EXISTS { MATCH (p:Page) WHERE p.corpus = $corpus AND p.number IS NOT NULL } AS pages,
       EXISTS { MATCH (t:Table) WHERE t.corpus = $corpus AND t.label IS NOT NULL } AS tables
