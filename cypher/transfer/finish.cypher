// transfer.finish(name :: STRING, load :: STRING, times :: MAP) :: (name :: STRING)
// Turns the mark of an import into the corpus or knowledge graph that it stood for, all at once.
// mode: WRITE
MATCH (c:KgpImport {name: $name, load: $load})
WHERE NOT EXISTS { MATCH (x:Corpus|KnowledgeGraph {name: $name}) WHERE c.kind IN labels(x) }
FOREACH (name IN keys($times) | SET c[name] = datetime($times[name]))
SET c:$(c.kind)
REMOVE c:KgpImport, c.kind, c.load
FOREACH (g IN CASE WHEN c:Corpus THEN COLLECT { MATCH (g:Graph {corpus: c.name}) RETURN g } ELSE [] END |
  MERGE (c)-[:HAS_GRAPH]->(g))
RETURN c.name AS name
