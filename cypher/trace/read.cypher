// trace.read(id :: STRING) :: (question :: MAP, askedAt :: STRING, visits :: LIST OF MAP)
// A stored traversal: the question's properties, and of the visits, in their order, the passage with the
// properties of the relationship, where the passage is still there.
// mode: READ
MATCH (q:Question {id: $id})
RETURN q {.id, .corpus, .text, .agent, .settings, .answer, .seconds, .details, .passages, .titles} AS question,
       toString(q.askedAt) AS askedAt,
       COLLECT {
         MATCH (q)-[v:VISITED|LED_TO_ANSWER]->(p:Passage)
         RETURN v {.*, passage: p.id} ORDER BY v.order
       } AS visits
