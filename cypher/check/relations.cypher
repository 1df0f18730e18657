// check.relations(configuration :: MAP) :: (wrong :: STRING)
// Says that a relation path has too many steps, if so.
// mode: READ
WITH size(coalesce($configuration['relations'], [])) AS steps
WHERE steps > 4
RETURN 'a relation path has four steps at most, not ' + toString(steps) AS wrong
