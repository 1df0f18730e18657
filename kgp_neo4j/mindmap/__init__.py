"""Mind map (MindMap): triples in; answers with a checked mind map out."""
