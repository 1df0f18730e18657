// transfer.forget(name :: STRING, kind :: STRING) :: (marks :: INT)
// Removes the marks of imports that were cut off, once what they wrote is deleted.
// mode: WRITE
MATCH (c:KgpImport {name: $name, kind: $kind})
DETACH DELETE c
RETURN count(*) AS marks
