// inspect.page(corpus :: STRING, document :: STRING, number :: INT) :: (hash :: STRING, sources :: LIST OF STRING, pages :: INT, label :: STRING, recognised :: BOOLEAN, start :: INT, end :: INT, passages :: LIST OF MAP, headings :: LIST OF MAP)
// A page of a document with its passages and headings, the document's files, and the sum of the
// bytes of that one whose pages can be shown.
// mode: READ
MATCH (d:Document {id: $document, corpus: $corpus})-[:HAS_PAGE]->(p:Page {number: $number})
RETURN d.fileHash AS hash,
       [d.source] + COLLECT { MATCH (d)-[:HAS_SOURCE]->(s) RETURN s.source ORDER BY s.source } AS sources,
       d.pages AS pages, coalesce(p.label, '') AS label, coalesce(p.recognised, false) AS recognised,
       p.start AS start, p.end AS end,
       COLLECT { MATCH (p)-[:HAS_PASSAGE]->(a:Passage) RETURN a {.id, .text, .start} ORDER BY a.position } AS passages,
       COLLECT {
         MATCH (d)-[:HAS_SECTION]->(s:Section)
         WHERE p.start <= s.start < p.end
         RETURN s {.title, .start} ORDER BY s.order
       } AS headings
