// connect.entityMentions(corpus :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Writes which entities passages mention: each row has passage and its mentions (name, surface,
// start, end, commonness, coherence, score, offsets).
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
UNWIND row.mentions AS mention
MATCH (e:Entity {corpus: $corpus, name: mention.name})
CREATE (p)-[:MENTIONS {surface: mention.surface, start: mention.start, end: mention.end,
  commonness: mention.commonness, coherence: mention.coherence, score: mention.score,
  offsets: mention.offsets}]->(e)
RETURN count(*) AS written
