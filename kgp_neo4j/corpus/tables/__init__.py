"""Pages and tables: a structural question in; values with the cells that hold them out."""
