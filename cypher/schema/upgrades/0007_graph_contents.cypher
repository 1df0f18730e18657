// upgrade.0007GraphContents() :: (changed :: INT)
// Writes down the relationship types and some names of each knowledge graph, which every question read
// from the graph before.
// mode: WRITE
MATCH (g:KnowledgeGraph)
WHERE g.names IS NULL
// include: graph_contents
SET g.relations = relations, g.names = names
RETURN count(*) AS changed
