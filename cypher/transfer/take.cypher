// transfer.take(name :: STRING, kind :: STRING, load = null :: STRING) :: (marks :: INT)
// Takes the marks of imports of a corpus or knowledge graph from whoever has them (or of one import, by
// its load), so that they write no more. There are some where an import runs, or was cut off.
// mode: WRITE
MATCH (c:KgpImport {name: $name, kind: $kind})
WHERE $load IS NULL OR c.load = $load
SET c.load = ''
RETURN count(c) AS marks
