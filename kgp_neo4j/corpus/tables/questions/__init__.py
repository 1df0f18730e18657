"""Questions within a table: question and table in; a plan that was run, with cells, out."""
