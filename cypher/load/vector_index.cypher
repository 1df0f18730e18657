// load.vectorIndex(name :: STRING, label :: STRING) :: ()
// Makes the vector index of the passages with a label, unless it is there. It has no fixed dimension, so
// that each corpus may have its own encoder. To make it of all vectors at once is a third of the work of
// adding them a transaction at a time.
// mode: SCHEMA
CREATE VECTOR INDEX $name IF NOT EXISTS FOR (p:`$label`) ON (p.embedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};
