// browser.retrieve(question :: STRING, corpus :: STRING, configuration = {} :: MAP) :: (rank :: INT, passage :: NODE, score :: FLOAT, path :: LIST OF NODE)
// The same question searched anew with the lexical agent, wholly inside the database.
// mode: READ
CALL custom.kgp.retrieve($question, $corpus, $configuration) YIELD rank, passage, score, path
RETURN rank, passage, score, path
