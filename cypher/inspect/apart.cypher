// inspect.apart(ids :: LIST OF STRING) :: (id :: STRING, apart :: STRING)
// What tells documents apart from others of the same title: the end of a path, empty where there are none.
// mode: READ
MATCH (d:Document)
WHERE d.id IN $ids
// include: apart
RETURN d.id AS id, apart
