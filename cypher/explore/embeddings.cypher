// explore.embeddings(entities :: LIST OF STRING) :: (id :: STRING, embedding :: LIST OF FLOAT)
// The embeddings of entities (by id); no row for those without one.
// mode: READ
UNWIND $entities AS id
MATCH (e:Entity {id: id})
WHERE e.embedding IS NOT NULL
RETURN id, e.embedding AS embedding
