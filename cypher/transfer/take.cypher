// transfer.take(name :: STRING, kind :: STRING) :: (marks :: INT)
// Takes the marks of imports from whoever has them, so that they write no more.
// mode: WRITE
MATCH (c:KgpImport {name: $name, kind: $kind})
SET c.load = ''
RETURN count(c) AS marks
