// browser.retrieve(question :: STRING, corpus :: STRING, settings = {} :: MAP) :: (rank :: INT, passage :: NODE, score :: FLOAT, path :: LIST OF STRING)
// The same question searched anew with the lexical agent, wholly inside the database.
// mode: READ
CALL custom.kgp.retrieve($question, $corpus, $settings) YIELD rank, passage, score, path
RETURN rank, passage, score, path
