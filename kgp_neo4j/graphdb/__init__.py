"""Graph database: statements of `cypher/` in; rows out, from a server found or started."""
