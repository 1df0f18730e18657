"""Load: files in; documents, pages, tables and passages in the graph out."""
