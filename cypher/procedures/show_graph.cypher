// kgp.showGraph(entities :: LIST OF STRING) :: (entity :: NODE, edge :: RELATIONSHIP, other :: NODE)
// Entities of a knowledge graph (by id) as a graph, with what joins them.
// mode: READ
// example: MATCH (e:Entity {graph: 'demo'}) WITH collect(e.id)[..20] AS ids CALL custom.kgp.showGraph(ids) YIELD entity, edge, other RETURN entity, edge, other
MATCH (entity:Entity)
WHERE entity.id IN $entities
OPTIONAL MATCH (entity)-[edge]->(other:Entity)
WHERE other.id IN $entities
RETURN entity, edge, other
