// trace.list(corpus = null :: STRING, start = '' :: STRING, limit = 1000 :: INT) :: (id :: STRING, corpus :: STRING, question :: STRING, agent :: STRING, askedAt :: STRING, answer :: STRING, passages :: INT, left :: INT)
// The stored traversals of a corpus, or of all, whose id begins with `start`, the latest first: how many
// passages were visited, and how many of them are still there.
// mode: READ
MATCH (q:Question)
WHERE q.id STARTS WITH $start AND ($corpus IS NULL OR q.corpus = $corpus)
WITH q ORDER BY q.askedAt DESC, q.id LIMIT $limit
RETURN q.id AS id, q.corpus AS corpus, q.text AS question, q.agent AS agent,
       toString(q.askedAt) AS askedAt, q.answer AS answer, size(q.passages) AS passages,
       COUNT { MATCH (q)-[:VISITED]->(p) RETURN DISTINCT p } AS left
