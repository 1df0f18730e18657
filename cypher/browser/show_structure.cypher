// browser.showStructure(nodes :: LIST OF STRING) :: (document :: NODE, page :: NODE, edge :: RELATIONSHIP, part :: NODE)
// What a link into Browser fills in: the tables or documents (by id) of a structural answer as a graph.
// mode: READ
CALL custom.kgp.showStructure($nodes) YIELD document, page, edge, part RETURN document, page, edge, part
