"""Answer: a reasoning graph in; an answer with a mind map, every edge checked, out."""
