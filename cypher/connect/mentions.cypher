// connect.mentions(corpus :: STRING, rows :: LIST OF MAP, linker :: STRING) :: (written :: INT)
// Replaces what passages mention: each row has passage, its mentions (node of a document or entity,
// surface, start, end, commonness, coherence, score, offsets) and the marks of these. A passage is
// marked as linked even where it mentions nothing.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
WHERE p.corpus = $corpus
SET p.linkedBy = $linker, p.mentionMarks = row.marks
WITH p, row
CALL (p) {
  MATCH (p)-[old:MENTIONS]->()
  DELETE old
}
UNWIND row.mentions AS mention
MATCH (e:Document|NamedEntity) WHERE elementId(e) = mention.node AND e.corpus = $corpus
CREATE (p)-[:MENTIONS {surface: mention.surface, start: mention.start, end: mention.end,
  commonness: mention.commonness, coherence: mention.coherence, score: mention.score,
  offsets: mention.offsets}]->(e)
RETURN count(*) AS written
