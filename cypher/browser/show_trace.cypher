// browser.showTrace(trace :: STRING) :: (question :: NODE, visit :: RELATIONSHIP, passage :: NODE, edge :: RELATIONSHIP, neighbour :: NODE)
// The stored traversal of a question as a graph.
// mode: READ
CALL custom.kgp.trace($trace) YIELD question, visit, passage, edge, neighbour RETURN question, visit, passage, edge, neighbour
