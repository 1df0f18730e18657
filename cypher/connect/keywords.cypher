// connect.keywords(corpus :: STRING, rows :: LIST OF MAP) :: (written :: INT)
// Writes keywords and links passages to them: each row has text, frequency (passages that have it),
// named (it is a title) and links: lists of a passage's node, tfidf and owned.
// mode: WRITE
UNWIND $rows AS row
MERGE (k:Keyword {corpus: $corpus, text: row.text})
SET k.title = row.text, k.documentFrequency = row.frequency, k.named = row.named
WITH k, row
UNWIND row.links AS link
MATCH (p:Passage) WHERE elementId(p) = link[0] AND p.corpus = $corpus
CREATE (p)-[:HAS_KEYWORD {tfidf: link[1], owned: link[2]}]->(k)
RETURN count(*) AS written
