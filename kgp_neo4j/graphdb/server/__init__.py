"""The embedded database: a real Neo4j with Browser, Graph Data Science and our plugin."""
