// schema.pageId() :: ()
// A page is known by its id, a hash of its document and number.
// mode: SCHEMA
CREATE CONSTRAINT kgp_page_id IF NOT EXISTS FOR (p:Page) REQUIRE p.id IS UNIQUE
