// A list of relationships of a knowledge graph in a packed row: the triples.
[r IN column |
// include: triple
]
