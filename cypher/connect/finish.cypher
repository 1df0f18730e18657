// connect.finish(corpus :: STRING, graph :: STRING, settings :: STRING, madeOf = null :: STRING, run = null :: STRING) :: (corpus :: STRING)
// Marks one graph of a corpus as made, with its settings and with what would make the same graph of the same
// documents (`madeOf`), where nothing has changed since `run` began.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
MERGE (c)-[:HAS_GRAPH]->(g:Graph {type: $graph})
SET g.corpus = c.name, g.settings = $settings, g.madeAt = datetime(),
    g.madeOf = CASE WHEN g.run = $run THEN $madeOf END
REMOVE g.run, g.unfinished, g.nodes, g.links, g.edges
RETURN c.name AS corpus
