"""Load: triples and tables of entities in; a knowledge graph out."""
