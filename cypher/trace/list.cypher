// trace.list(corpus = null :: STRING, start = '' :: STRING, words = [] :: LIST OF STRING, limit = 1000 :: INT) :: (id :: STRING, corpus :: STRING, question :: STRING, agent :: STRING, askedAt :: STRING, answer :: STRING, passages :: INT, left :: INT)
// The stored traversals of a corpus, or of all, whose id begins with `start` and whose question and
// answer have all `words`, the latest first: how many passages were visited, and how many of them are still there.
// mode: READ
MATCH (q:Question)
WHERE q.id STARTS WITH $start AND ($corpus IS NULL OR q.corpus = $corpus)
  AND all(word IN $words WHERE toLower(q.text + ' ' + q.answer) CONTAINS toLower(word))
WITH q ORDER BY q.askedAt DESC, q.id LIMIT $limit
RETURN q.id AS id, q.corpus AS corpus, q.text AS question, q.agent AS agent,
       toString(q.askedAt) AS askedAt, q.answer AS answer, size(q.passages) AS passages,
       COUNT { MATCH (q)-[:VISITED|LED_TO_ANSWER]->(p) RETURN DISTINCT p } AS left
