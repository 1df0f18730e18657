"""Cypher: every statement, one a file, read by `graphdb/statements.py`."""
