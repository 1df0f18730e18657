// trace.found(start :: STRING) :: (id :: STRING, text :: STRING)
// The kept questions whose id begins so; eleven at most, which is enough to say that there are many.
// mode: READ
MATCH (q:Question)
WHERE q.id STARTS WITH $start
RETURN q.id AS id, q.text AS text
ORDER BY q.id
LIMIT 11
