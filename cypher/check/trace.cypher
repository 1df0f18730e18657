// check.trace(trace :: STRING) :: (wrong :: STRING)
// Says that no stored traversal has an id that begins so, if so.
// mode: READ
WITH $trace AS trace
WHERE NOT EXISTS { MATCH (q:Question) WHERE q.id STARTS WITH trace }
RETURN 'there is no trace ' + trace AS wrong
