// connect.counts(corpus :: STRING, complete :: BOOLEAN) :: (counts :: MAP)
// How large each graph of a corpus is: its keywords or its entities that no document is about (nodes), what
// joins passages to these (links), and what joins passages to passages (edges), by the names of a report.
// Counted once after each run of `connect` that made the graph. Notes whether all passages are in the graphs; loading more makes it untrue.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
SET c.complete = $complete
WITH c
MATCH (c)-[:HAS_GRAPH]->(g:Graph)
CALL (g) {
  WITH g WHERE g.edges IS NULL AND g.type = 'keywords'
  MATCH (p:Passage {corpus: g.corpus})
  WITH g, sum(COUNT { (p)-[:HAS_KEYWORD]->() }) AS links, sum(COUNT { (p)-[:SHARES_KEYWORD]->() }) AS edges
  SET g.links = links, g.edges = edges,
      g.nodes = COUNT { MATCH (k:Keyword {corpus: g.corpus}) WHERE k.text >= '' }
}
CALL (g) {
  WITH g WHERE g.edges IS NULL AND g.type = 'entities'
  MATCH (p:Passage {corpus: g.corpus})
  WITH g, sum(COUNT { (p)-[:MENTIONS]->() }) AS links, sum(COUNT { (p)-[:SHARES_ENTITY]->() }) AS edges
  SET g.links = links, g.edges = edges,
      g.nodes = COUNT { MATCH (e:NamedEntity {corpus: g.corpus}) WHERE e.name >= '' }
}
CALL (g) {
  WITH g WHERE g.edges IS NULL AND g.type IN ['similarity', 'mdr']
  MATCH (p:Passage {corpus: g.corpus})
  WITH g, sum(CASE g.type WHEN 'mdr' THEN COUNT { (p)-[:SIMILAR_MDR]->() }
    ELSE COUNT { (p)-[:SIMILAR_ST]->() } END) AS edges
  SET g.edges = edges
}
WITH g.type AS graph, coalesce(g.nodes, 0) AS nodes, coalesce(g.links, 0) AS links,
     coalesce(g.edges, 0) AS edges
RETURN CASE graph
  WHEN 'keywords' THEN {keywords: nodes, keyword_links: links, shared_keyword_edges: edges}
  WHEN 'entities' THEN {entities: nodes, mentions: links, shared_entity_edges: edges}
  WHEN 'mdr' THEN {mdr_edges: edges} ELSE {similarity_edges: edges} END AS counts
