// transfer.take(name :: STRING, kind :: STRING, load = null :: STRING, forget = false :: BOOLEAN) :: (marks :: INT)
// Takes the marks of imports of a corpus or knowledge graph from whoever has them (or of one import, by
// its load), so that they write no more. There are some where an import runs, or was cut off. With
// `forget` they are removed, once what was written is deleted.
// mode: WRITE
MATCH (c:KgpImport {name: $name, kind: $kind})
WHERE $load IS NULL OR c.load = $load
SET c.load = ''
WITH collect(c) AS marks
FOREACH (c IN CASE WHEN $forget THEN marks ELSE [] END | DETACH DELETE c)
RETURN size(marks) AS marks
