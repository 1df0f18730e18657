// schema.questionId() :: ()
// A kept question is known by its id.
// mode: SCHEMA
CREATE CONSTRAINT kgp_question_id IF NOT EXISTS FOR (q:Question) REQUIRE q.id IS UNIQUE
