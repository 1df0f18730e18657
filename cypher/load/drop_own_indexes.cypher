// load.dropOwnIndexes(corpus :: STRING) :: (dropped :: LIST OF STRING)
// Drops the indexes of a corpus's own, at once whatever its size.
// mode: WRITE
MATCH (c:Corpus|KgpImport {name: $corpus})
UNWIND ['kgp_passage_', 'kgp_vectors_'] AS kind
CALL (c, kind) {
  CALL apoc.cypher.runSchema('DROP INDEX ' + kind + c.scope + ' IF EXISTS', {}) YIELD value
  RETURN count(*) AS made
}
RETURN collect(kind + c.scope) AS dropped
