// trace.visits(id :: STRING) :: (passage :: STRING, visit :: MAP)
// What was visited for a kept question and is still there, in the order of the visits.
// mode: READ
MATCH (:Question {id: $id})-[v:VISITED]->(p:Passage)
RETURN p.id AS passage, properties(v) AS visit
ORDER BY v.order
