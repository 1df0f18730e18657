// A relationship of a knowledge graph in a packed row: the triple.
[r IN [column] |
// include: triple
][0]
