// connect.counts(corpus :: STRING, complete :: BOOLEAN) :: (graph :: STRING, nodes :: INT, links :: INT, edges :: INT)
// How large each graph of a corpus is: its keywords or its entities that no document is about (nodes), what
// joins passages to these (links), and what joins passages to passages (edges). Counted once after each run
// of `connect` that made the graph. Notes whether all passages are in the graphs; loading more makes it untrue.
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
RETURN g.type AS graph, coalesce(g.nodes, 0) AS nodes, coalesce(g.links, 0) AS links,
       coalesce(g.edges, 0) AS edges
