// load.documents(corpus :: STRING, scope :: STRING, rows :: LIST OF MAP, language = 'english' :: STRING) :: (id :: STRING, passages :: INT, characters :: INT)
// Writes documents with their passages, sections, pages, tables and columns: each row has the
// properties of all. What a document had before and has no longer goes, with all its edges; rows
// and cells of tables are removed before (load/remove_structure) and come after. Returns what is
// stored now.
// mode: WRITE
MERGE (c:Corpus {name: $corpus})
  ON CREATE SET c.scope = $scope, c.language = $language, c.shelf = $language,
    c.createdAt = datetime()
// include: changed
FOREACH (_ IN CASE WHEN c.complete = false THEN [] ELSE [1] END | SET c.complete = false)
WITH c
UNWIND $rows AS row
MERGE (d:Document {id: row.id})
SET d.corpus = c.name, d.title = row.title, d.source = row.source, d.key = row.key,
    d.sha256 = row.sha256, d.contents = row.contents, d.fingerprint = row.fingerprint, d.characters = row.characters,
    d.loadedAt = datetime(), d.pages = nullif(size(row.pages), 0),
    d.tables = nullif(size(row.tables), 0), d.cells = row.cellCount,
    d.structured = CASE WHEN row.cellCount > 0 THEN false END
WITH c, d, row
// A passage of the same id has the same text; one under a new title or in another section is made
// anew all the same, since keywords and embeddings are made of these too.
CALL (d, row) {
  MATCH (d)-[:HAS_PASSAGE]->(old:Passage)
  WHERE old.position >= size(row.passages)
     OR row.passages[old.position].id <> old.id
     OR row.passages[old.position].title <> old.title
     OR coalesce(row.passages[old.position].section, '') <> coalesce(old.section, '')
  WITH collect(old) AS gone
  // include: forget_passages
}
CALL (d, row) {
  MATCH (d)-[:HAS_PAGE|HAS_TABLE|HAS_SECTION]->(old)
  DETACH DELETE old
}
CALL (c, d, row) {
  UNWIND row.pages AS new
  CREATE (d)-[:HAS_PAGE]->(p:Page {id: new.id})
  SET p.corpus = c.name, p.document = d.id, p.number = new.number, p.label = new.label,
      p.title = 'page ' + new.number, p.header = new.header, p.footer = new.footer,
      p.start = new.start, p.end = new.end, p.recognised = nullif(new.recognised, false)
}
CALL (c, d, row) {
  UNWIND row.tables AS new
  CREATE (d)-[:HAS_TABLE]->(t:Table {id: new.id})
  SET t.corpus = c.name, t.document = d.id, t.order = new.order, t.label = new.number,
      t.name = new.name, t.title = new.title, t.caption = new.caption, t.markdown = new.markdown,
      t.markdownRows = new.markdownRows, t.rows = new.rows, t.headerRows = new.headerRows,
      t.pageNumbers = new.pages, t.start = new.start, t.end = new.end
  WITH c, t, row, new
  CALL (c, t, new) {
    UNWIND new.columns AS each
    CREATE (t)-[:HAS_COLUMN]->(:Column {id: each.id, corpus: c.name, table: t.id,
      order: each.order, header: each.header, title: each.title, norm: each.norm,
      type: each.type})
  }
  WITH t, row, new
  UNWIND new.pages AS number
  MATCH (p:Page {id: row.pages[number - 1].id})
  CREATE (p)-[:HAS_TABLE]->(t)
}
CALL (c, d, row) {
  UNWIND row.passages AS new
  MERGE (p:Passage {id: new.id})
  SET p.corpus = c.name, p.scope = c.scope, p.document = d.id, p.title = new.title,
      p.text = new.text, p.position = new.position, p.start = new.start, p.end = new.end,
      p.page = new.page, p.section = new.section, p.raw = new.raw
  FOREACH (_ IN CASE WHEN new.cjk THEN [1] ELSE [] END | SET p:CjkPassage)
  FOREACH (shelf IN CASE WHEN c.small THEN [c.language, c.shelf] ELSE [c.shelf] END
                  + CASE WHEN new.cjk AND c.shelf = c.scope THEN [c.scope + 'Cjk'] ELSE [] END |
    SET p:$(toUpper(left(shelf, 1)) + substring(shelf, 1) + 'Passage'))
  MERGE (d)-[:HAS_PASSAGE]->(p)
  WITH p, row, new
  CALL (p, row, new) {
    MATCH (page:Page {id: row.pages[new.page - 1].id})
    MERGE (page)-[:HAS_PASSAGE]->(p)
  }
  WITH p ORDER BY p.position
  WITH collect(p) AS made, count(p) AS passages, sum(size(p.text)) AS characters
  FOREACH (i IN range(1, size(made) - 1) |
    FOREACH (a IN [made[i - 1]] | FOREACH (b IN [made[i]] | MERGE (a)-[:NEXT]->(b))))
  RETURN passages, characters
}
CALL (c, d, row) {
  UNWIND row.sections AS new
  CREATE (d)-[:HAS_SECTION]->(s:Section {id: new.id, corpus: c.name, document: d.id,
    order: new.order, title: new.title, heading: new.heading, level: new.level, start: new.start,
    end: new.end})
  WITH s, new
  UNWIND new.passages AS id
  MATCH (p:Passage {id: id})
  CREATE (s)-[:HAS_PASSAGE]->(p)
}
RETURN d.id AS id, passages, characters
