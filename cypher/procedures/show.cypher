// kgp.show(passages :: LIST OF STRING) :: (passage :: NODE, document :: NODE, edge :: RELATIONSHIP, other :: NODE)
// The passages of an answer as a graph: their documents and the edges between them.
// mode: READ
// example: MATCH (p:Passage {corpus: 'demo'}) WITH collect(p.id)[..5] AS ids CALL custom.kgp.show(ids) YIELD passage, document, edge, other RETURN passage, document, edge, other
MATCH (document:Document)-[:HAS_PASSAGE]->(passage:Passage)
WHERE passage.id IN $passages
OPTIONAL MATCH (passage)-[edge:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]->(other:Passage)
WHERE other.id IN $passages
RETURN passage, document, edge, other
