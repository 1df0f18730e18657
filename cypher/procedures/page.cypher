// kgp.page(document :: STRING, number :: INT, corpus :: STRING) :: (page :: NODE, label :: STRING, text :: STRING, header :: STRING, footer :: STRING, tables :: LIST OF NODE)
// The content of a page, counted from 1, of a document given by its id, title or source.
// mode: READ
// task: pages and tables
// check: corpus, document, page
// example: MATCH (p:Page {corpus: 'demo'})<-[:HAS_PAGE]-(d) WITH d, p LIMIT 1 CALL custom.kgp.page(d.title, p.number, 'demo') YIELD page, label, text, header, footer, tables RETURN page, label, text, header, footer, tables
MATCH (c:Corpus {name: $corpus})
// include: document
MATCH (d)-[:HAS_PAGE]->(p:Page {number: $number})
// include: page_text
CALL (p) {
  OPTIONAL MATCH (p)-[:HAS_TABLE]->(t:Table)
  WITH t ORDER BY t.order
  RETURN collect(t) AS tables
}
RETURN p AS page, p.label AS label, text, p.header AS header, p.footer AS footer, tables
ORDER BY p.document
