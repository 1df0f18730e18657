// A node in a packed row: its properties without the embedding, which is many times as long.
column {.*, embedding: null}
