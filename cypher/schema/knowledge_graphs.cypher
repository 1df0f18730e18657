// schema.knowledgeGraphs() :: ()
// Keys and search of knowledge graphs and their entities.
// mode: SCHEMA

// A knowledge graph is known by its name.
CREATE CONSTRAINT kgp_knowledge_graph_name IF NOT EXISTS
FOR (g:KnowledgeGraph) REQUIRE g.name IS UNIQUE;

// An entity of a knowledge graph is known by its id, a hash of the graph and the entity's key.
CREATE CONSTRAINT kgp_entity_id IF NOT EXISTS FOR (e:Entity) REQUIRE e.id IS UNIQUE;

// The same by its normalised name within its graph; `e.key IS NOT NULL` finds all of a graph.
CREATE CONSTRAINT kgp_entity_key IF NOT EXISTS
FOR (e:Entity) REQUIRE (e.graph, e.key) IS UNIQUE;

// Full-text search over names and aliases: words, and pairs of Chinese, Japanese and Korean
// characters. `scope` is one token per graph that narrows the search.
CREATE FULLTEXT INDEX kgp_entity_text IF NOT EXISTS
FOR (e:Entity) ON EACH [e.name, e.aliases, e.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}};

// Vector search over the names of entities; no fixed dimension, so that each graph may have its own
// encoder.
CREATE VECTOR INDEX kgp_entity_embedding IF NOT EXISTS
FOR (e:Entity) ON (e.embedding)
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};
