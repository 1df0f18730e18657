// connect.made(corpus :: STRING) :: (keywords :: STRING, entities :: STRING)
// What the keyword and the entity graph of a corpus were made of, as `connect.finish` kept it; null where a
// document has changed since, or another run was beside it.
// mode: READ
MATCH (c:Corpus {name: $corpus})
OPTIONAL MATCH (c)-[:HAS_GRAPH]->(k:Graph {type: 'keywords'})
OPTIONAL MATCH (c)-[:HAS_GRAPH]->(e:Graph {type: 'entities'})
RETURN k.madeOf AS keywords, e.madeOf AS entities
