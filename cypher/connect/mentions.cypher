// connect.mentions(corpus :: STRING, rows :: LIST OF MAP, linker :: STRING) :: (written :: INT)
// Writes what passages mention: each row has passage and its mentions (node of a document or entity,
// surface, start, end, commonness, coherence, score, offsets). A passage is marked as linked even
// where it mentions nothing.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
SET p.linkedBy = $linker
WITH p, row
UNWIND row.mentions AS mention
MATCH (e:Document|NamedEntity) WHERE elementId(e) = mention.node AND e.corpus = $corpus
CREATE (p)-[:MENTIONS {surface: mention.surface, start: mention.start, end: mention.end,
  commonness: mention.commonness, coherence: mention.coherence, score: mention.score,
  offsets: mention.offsets}]->(e)
RETURN count(*) AS written
