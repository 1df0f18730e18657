// connect.passages(corpus :: STRING, anew = false :: BOOLEAN) :: (node :: STRING, id :: STRING, title :: STRING, text :: STRING, keywordMarks :: STRING, keywords :: INT, sharedMarks :: STRING, shared :: INT)
// The passages of a corpus by id, with what `connect` noted of their keywords and shared-keyword edges (nothing
// where these are to be made `anew`) and how many of each they have; the document's title stands on its first
// passage only.
// mode: READ
MATCH (d:Document {corpus: $corpus})-[:HAS_PASSAGE]->(p:Passage)
RETURN elementId(p) AS node, p.id AS id, CASE p.position WHEN 0 THEN d.title ELSE '' END AS title,
       CASE WHEN p.raw THEN '' ELSE p.text END AS text,
       CASE WHEN NOT $anew THEN p.keywordMarks END AS keywordMarks,
       COUNT { (p)-[:HAS_KEYWORD]->() } AS keywords,
       CASE WHEN NOT $anew THEN p.sharedKeywordMarks END AS sharedMarks,
       COUNT { (p)-[:SHARES_KEYWORD]->() } AS shared
ORDER BY id
