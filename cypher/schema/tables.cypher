// schema.tables() :: ()
// Keys of tables, their columns and cells.
// mode: SCHEMA

// A table is known by its id, a hash of its document and its place among the tables there.
CREATE CONSTRAINT kgp_table_id IF NOT EXISTS FOR (t:Table) REQUIRE t.id IS UNIQUE;

// The tables of one corpus, by their printed label.
CREATE INDEX kgp_table_corpus IF NOT EXISTS FOR (t:Table) ON (t.corpus, t.label);

// The columns of one corpus by name, to see whether a question names one.
CREATE INDEX kgp_column_corpus IF NOT EXISTS FOR (c:Column) ON (c.corpus, c.norm);

// The cells of one table by their text, so that a long table need not be read through.
CREATE INDEX kgp_cell_norm IF NOT EXISTS FOR (c:Cell) ON (c.table, c.norm);
