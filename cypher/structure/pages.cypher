// structure.pages(document :: STRING, numbers :: LIST OF INT) :: (number :: INT, label :: STRING, header :: STRING, footer :: STRING, text :: STRING)
// Pages of a document with their whole text; every page where no numbers are given.
// mode: READ
MATCH (d:Document {id: $document})-[:HAS_PAGE]->(p:Page)
WHERE size($numbers) = 0 OR p.number IN $numbers
// include: page_text
RETURN p.number AS number, coalesce(p.label, '') AS label, coalesce(p.header, '') AS header,
       coalesce(p.footer, '') AS footer, text
ORDER BY number
