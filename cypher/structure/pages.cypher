// structure.pages(documents :: LIST OF STRING, numbers = [] :: LIST OF INT, words = [] :: LIST OF STRING) :: (document :: STRING, number :: INT, label :: STRING, header :: STRING, footer :: STRING, text :: STRING, headings :: LIST OF STRING)
// Pages of documents with their whole text: all, or those with some numbers, or with all of some
// words in their text or in their margins, as parts of words and in lower case. Headings are those
// of the sections that begin on the page, after the document's title where the page begins with it.
// mode: READ
MATCH (d:Document)-[:HAS_PAGE]->(p:Page)
WHERE d.id IN $documents AND (size($numbers) = 0 OR p.number IN $numbers)
// include: page_text
WITH d, p, text, coalesce(p.header, '') + '\n' + coalesce(p.footer, '') AS margins
WHERE all(word IN $words WHERE toLower(text) CONTAINS word)
   OR all(word IN $words WHERE toLower(margins) CONTAINS word)
RETURN d.id AS document, p.number AS number, coalesce(p.label, '') AS label,
       coalesce(p.header, '') AS header, coalesce(p.footer, '') AS footer, text,
       CASE WHEN text STARTS WITH d.title THEN [d.title] ELSE [] END + COLLECT {
         MATCH (d)-[:HAS_SECTION]->(s:Section) WHERE p.start <= s.start < p.end
         RETURN s.title ORDER BY s.order
       } AS headings
ORDER BY d.title, document, number
