// browser.showGraph(nodes :: LIST OF STRING) :: (entity :: NODE, edge :: RELATIONSHIP, other :: NODE)
// What a link into Browser fills in: the entities (by id) of a mind map's evidence as a graph.
// mode: READ
CALL custom.kgp.showGraph($nodes) YIELD entity, edge, other RETURN entity, edge, other
