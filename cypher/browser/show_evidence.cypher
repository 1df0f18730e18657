// browser.showEvidence(nodes :: LIST OF STRING) :: (passage :: NODE, document :: NODE, edge :: RELATIONSHIP, other :: NODE)
// What a link into Browser fills in: the passages of an answer as a graph.
// mode: READ
CALL custom.kgp.show($nodes) YIELD passage, document, edge, other RETURN passage, document, edge, other