"""Train: fine-tune what the agents run on, from supporting facts or from the corpus itself."""
