// structure.labels(documents :: LIST OF STRING, labels :: LIST OF STRING) :: (document :: STRING, number :: INT, label :: STRING)
// The pages that bear one of these printed labels, in any case.
// mode: READ
MATCH (d:Document)-[:HAS_PAGE]->(p:Page)
WHERE d.id IN $documents AND toLower(p.label) IN $labels
RETURN d.id AS document, p.number AS number, p.label AS label
ORDER BY document, number
