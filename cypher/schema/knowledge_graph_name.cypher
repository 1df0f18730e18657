// schema.knowledgeGraphName() :: ()
// A knowledge graph is known by its name.
// mode: SCHEMA
CREATE CONSTRAINT kgp_knowledge_graph_name IF NOT EXISTS
FOR (g:KnowledgeGraph) REQUIRE g.name IS UNIQUE
