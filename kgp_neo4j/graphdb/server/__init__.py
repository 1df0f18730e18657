"""The embedded database: a real Neo4j 5.26 with Browser, Graph Data Science and APOC."""
