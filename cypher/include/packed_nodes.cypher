// Nodes in a packed row: their properties without the embedding, which is many times as long.
[n IN column | n {.*, embedding: null}]
