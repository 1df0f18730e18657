"""Connect: passages in; keywords, mentions, vectors and the edges between passages out."""
