// schema.entityEmbedding() :: ()
// Vector search over the names of entities; no fixed dimension, so that each graph may have its own
// encoder.
// mode: SCHEMA
CREATE VECTOR INDEX kgp_entity_embedding IF NOT EXISTS
FOR (e:Entity) ON (e.embedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}}
