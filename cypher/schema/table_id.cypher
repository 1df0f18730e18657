// schema.tableId() :: ()
// A table is known by its id, a hash of its document and its place among the tables there.
// mode: SCHEMA
CREATE CONSTRAINT kgp_table_id IF NOT EXISTS FOR (t:Table) REQUIRE t.id IS UNIQUE
