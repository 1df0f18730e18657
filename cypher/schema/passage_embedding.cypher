// schema.passageEmbedding() :: ()
// Vector search over embeddings; no fixed dimension, so that each corpus may have its own encoder.
// mode: SCHEMA
CREATE VECTOR INDEX kgp_passage_embedding IF NOT EXISTS
FOR (p:Passage) ON (p.embedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}}
