// connect.removeKeywordLinks(corpus :: STRING, rows :: LIST OF STRING) :: (written :: INT)
// Takes passages (by node) off their keywords, and notes that it has to be made good.
// mode: WRITE
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row AND p.corpus = $corpus
REMOVE p.keywordMarks
WITH p
MATCH (p)-[h:HAS_KEYWORD]->()
DELETE h
RETURN count(h) AS written
