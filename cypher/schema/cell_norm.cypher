// schema.cellNorm() :: ()
// The cells of one table by their text, so that a long table need not be read through.
// mode: SCHEMA
CREATE INDEX kgp_cell_norm IF NOT EXISTS FOR (c:Cell) ON (c.table, c.norm)
