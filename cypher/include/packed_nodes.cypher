// A list of nodes in a packed row.
[one IN column | one {.*, embedding: null}]
