// browser.show(nodes :: LIST OF STRING) :: (node :: NODE, edge :: RELATIONSHIP, neighbour :: NODE)
// What a link into Browser fills in: the passages, entities, tables or documents (by id) of an answer.
// mode: READ
CALL custom.kgp.show($nodes) YIELD node, edge, neighbour RETURN node, edge, neighbour
