// gds.graphMemory(corpus :: STRING, edges :: LIST OF STRING) :: (least :: INT, most :: INT, share :: FLOAT)
// The bytes that gds.project takes of the server's heap for a corpus by the estimate of GDS, and the least
// as a share of the whole heap.
// mode: READ
MATCH (p:Passage {corpus: $corpus})
WITH count(p) AS passages, sum(COUNT {
  (p)-[e:SHARES_KEYWORD|SHARES_ENTITY|SIMILAR_ST|SIMILAR_MDR|NEXT]->() WHERE type(e) IN $edges
}) AS relationships
CALL gds.graph.project.estimate('*', {EDGE: {type: '*', orientation: 'UNDIRECTED'}}, {
  nodeCount: passages, relationshipCount: relationships, relationshipProperties: ['weight']
}) YIELD bytesMin, bytesMax, heapPercentageMin
RETURN bytesMin AS least, bytesMax AS most, heapPercentageMin AS share
