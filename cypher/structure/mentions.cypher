// structure.mentions(documents :: LIST OF STRING, words :: LIST OF STRING) :: (document :: STRING, number :: INT, label :: STRING, text :: STRING, margins :: STRING)
// The pages on which all of these words stand, as parts of words and in any case, with their text;
// `margins` is what stands in header and footer. The caller looks for the phrase itself.
// mode: READ
MATCH (d:Document)-[:HAS_PAGE]->(p:Page)
WHERE d.id IN $documents
// include: page_text
WITH d, p, text, coalesce(p.header, '') + '\n' + coalesce(p.footer, '') AS margins
WHERE all(word IN $words WHERE toLower(text) CONTAINS word)
   OR all(word IN $words WHERE toLower(margins) CONTAINS word)
RETURN d.id AS document, p.number AS number, coalesce(p.label, '') AS label, text, margins
ORDER BY d.title, document, number
