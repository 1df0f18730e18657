// schema.passageMdrEmbedding() :: ()
// Vector search over the embeddings of each corpus's MDR encoder, of whatever dimension it has.
// mode: SCHEMA
CREATE VECTOR INDEX kgp_passage_mdr_embedding IF NOT EXISTS
FOR (p:Passage) ON (p.mdrEmbedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}}
