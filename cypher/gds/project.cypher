// gds.project(graph :: STRING, corpus :: STRING, edges :: LIST OF STRING) :: (nodes :: INT, relationships :: INT)
// Projects the passages of a corpus and the edges of these types between them into an in-memory graph of
// GDS: undirected, and two passages are joined once by a type, with its weight.
// mode: READ
MATCH (p:Passage {corpus: $corpus})
OPTIONAL MATCH (p)-[e:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]-(q:Passage)
WHERE p.id < q.id AND type(e) IN $edges
WITH p, q, type(e) AS type, max(coalesce(e.weight, e.score, 1.0)) AS weight
WITH gds.graph.project($graph, p, q, {
    sourceNodeLabels: ['Passage'],
    targetNodeLabels: ['Passage'],
    relationshipType: type,
    relationshipProperties: {weight: weight}
  }, {undirectedRelationshipTypes: ['*']}) AS g
RETURN g.nodeCount AS nodes, g.relationshipCount AS relationships
