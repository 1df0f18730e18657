// browser.showTrace(trace :: STRING) :: (question :: NODE, visit :: RELATIONSHIP, passage :: NODE, edge :: RELATIONSHIP, before :: NODE)
// The kept traversal of a question as a graph.
// mode: READ
CALL custom.kgp.trace($trace) YIELD question, visit, passage, edge, before RETURN question, visit, passage, edge, before
