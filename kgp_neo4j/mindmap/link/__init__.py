"""Link: a question in; the entities of a knowledge graph that it names out."""
