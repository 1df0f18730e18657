// schema.entityText() :: ()
// Full-text search over names and aliases: words, and pairs of Chinese, Japanese and Korean
// characters. `scope` is one token per graph that narrows the search.
// mode: SCHEMA
CREATE FULLTEXT INDEX kgp_entity_text IF NOT EXISTS
FOR (e:Entity) ON EACH [e.name, e.aliases, e.scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'cjk'}}
