"""Every Cypher statement of kgp-neo4j, one a file; read by `kgp_neo4j.queries`."""
