// trace.question(id :: STRING) :: (question :: MAP, askedAt :: STRING)
// A kept question with its properties.
// mode: READ
MATCH (q:Question {id: $id})
RETURN q {.id, .corpus, .text, .agent, .settings, .answer, .seconds, .details, .passages, .titles} AS question,
       toString(q.askedAt) AS askedAt
