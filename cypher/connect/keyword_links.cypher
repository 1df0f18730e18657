// connect.keywordLinks(corpus :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Links passages to keywords: each row has passage and its keywords (text, tfidf, owned). A passage
// is marked as connected even where it has no keyword.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
SET p.connected = true
WITH p, row
UNWIND row.keywords AS keyword
MATCH (k:Keyword {corpus: $corpus, text: keyword.text})
CREATE (p)-[:HAS_KEYWORD {tfidf: keyword.tfidf, owned: keyword.owned}]->(k)
RETURN count(*) AS written
