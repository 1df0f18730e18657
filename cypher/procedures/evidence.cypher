// kgp.evidence(entities :: LIST OF ANY, graph :: STRING, configuration = {} :: MAP) :: (kind :: STRING, entity :: NODE, source :: NODE, edge :: RELATIONSHIP, neighbour :: NODE, score :: FLOAT)
// MindMap's neighbour-based exploration (section 3.1) of several entities at once: one hop round each
// (nodes, ids or names; the first twelve count), and on from the neighbours that several of them share
// or that are near the question, ranked. A neighbour scores by the entities that it touches, each the
// less the more relationships it has; with the question's `vector`, by its embedding too; what is a hop
// further gathers a share of all that leads to it. `kind` is `path` where a row lies between two of the
// entities.
// mode: READ
// task: knowledge graphs
// check: configuration, graph, entities
// option: limit = 30 :: INT (1 to 10000), how many rows at most
// option: vector = [] :: LIST OF FLOAT, the question's embedding
// option: relations = {} :: MAP, a weight for each relationship type; 1 for those not named
// option: weights = [] :: LIST OF FLOAT, a weight for each entity; 1 for those not given
// option: expand = 20 :: INT (0 to 1000), how many neighbours to go on from
// option: fan = 2000 :: INT (10 to 100000), how many relationships of each entity to look at
// example: CALL custom.kgp.evidence(['Fatigue', 'Nausea'], 'demo', {limit: 20})
WITH $entities AS entities
MATCH (g:KnowledgeGraph {name: $graph})
// include: entities
CALL (given) {
  UNWIND given AS one
  WITH one.node AS e, one.at AS at
  WITH e, coalesce($configuration.weights[at], 1.0) / log(2 + COUNT { (e)--() }) AS weight
  RETURN collect({node: e, weight: weight}) AS weighed, collect(e) AS nodes
}
WITH weighed AS given, nodes, $configuration.relations AS relations,
     $configuration.expand AS expand, $configuration.limit AS size
// Hop 1: each neighbour with all the given entities that it touches.
CALL (given, nodes, relations) {
  UNWIND given AS g
  WITH g, g.node AS q, relations, nodes
  CALL (q, relations) {
    MATCH (q)-[r]-(n:Entity)
    WHERE r.graph = $graph AND n <> q
    WITH q, r, n LIMIT $configuration.fan
    // Of the relationships of a pair, one that runs away from the given entity stands for it.
    WITH n, r, coalesce(relations[type(r)], 1.0) AS weight
    ORDER BY CASE WHEN startNode(r) = q THEN 0 ELSE 1 END, weight DESC, type(r)
    WITH n, collect({edge: r, weight: weight})[0] AS best
    RETURN n, best.edge AS edge, best.weight AS relation
  }
  WITH g, q, n, edge, relation, nodes
  ORDER BY relation DESC, g.weight DESC, q.key
  WITH n, n IN nodes AS isGiven, sum(g.weight) AS support,
       collect({from: q, edge: edge, relation: relation}) AS by
  WITH n, isGiven, by,
       support * CASE WHEN size($configuration.vector) = 0 OR n.embedding IS NULL THEN 1.0
         ELSE exp(3 * (2 * vector.similarity.cosine(n.embedding, $configuration.vector) - 1)) END AS score
  ORDER BY score DESC, n.key
  WITH collect({node: n, isGiven: isGiven, by: by, score: score}) AS found
  RETURN found, coalesce([f IN found WHERE NOT f.isGiven | f.score][0], 1.0) AS top
}
CALL (found, nodes, relations, expand) {
  WITH [f IN found WHERE NOT f.isGiven][..expand] AS ahead, nodes, relations
  WITH ahead, reduce(sum = 0.0, f IN ahead | sum + f.score) AS total, nodes, relations
  UNWIND ahead AS f
  WITH f, f.node AS n, total, nodes, relations
  CALL (n, nodes, relations) {
    MATCH (n)-[r]-(m:Entity)
    WHERE r.graph = $graph AND m <> n AND NOT m IN nodes
    WITH n, r, m LIMIT toInteger($configuration.fan / 10)
    WITH n, m, r, coalesce(relations[type(r)], 1.0) AS weight
    ORDER BY CASE WHEN startNode(r) = n THEN 0 ELSE 1 END, weight DESC, type(r)
    WITH m, collect({edge: r, weight: weight})[0] AS best
    RETURN m, best.edge AS edge, best.weight AS relation
  }
  WITH f, n, m, edge, f.score / total * relation AS part
  ORDER BY part DESC, n.key
  WITH m, sum(part) AS support, collect({via: f, edge: edge})[0] AS best
  WITH m, best, 1.5 * support *
         CASE WHEN size($configuration.vector) = 0 OR m.embedding IS NULL THEN 1.0
         ELSE exp(1.5 * (2 * vector.similarity.cosine(m.embedding, $configuration.vector) - 1)) END AS score
  ORDER BY score DESC, m.key
  RETURN collect({kind: 'neighbour', entity: best.via.by[0].from, source: best.via.node,
                  edge: best.edge, neighbour: m, score: score, first: false})
         [..$configuration.limit] AS further
}
CALL (found, top, size) {
  UNWIND found AS f
  WITH f, top, size
  UNWIND range(0, size(f.by) - 1) AS nth
  WITH f, f.by[nth] AS by, top, size, nth
  // Between two given entities a relationship is met from both ends.
  WHERE NOT f.isGiven OR startNode(by.edge) = by.from
  WITH f, by, size, CASE WHEN f.isGiven THEN 2.0 ELSE f.score / top END * by.relation
       // A second way to a neighbour tells less than the first one.
       * CASE WHEN nth = 0 THEN 1.0 ELSE 0.5 END AS score
  ORDER BY score DESC, f.node.key
  WITH by.from AS q, size, collect({
    kind: CASE WHEN f.isGiven OR size(f.by) > 1 THEN 'path' ELSE 'neighbour' END,
    entity: by.from, source: by.from, edge: by.edge, neighbour: f.node, score: score}) AS rows
  UNWIND range(0, CASE WHEN size(rows) < size THEN size(rows) ELSE size END - 1) AS nth
  // Each given entity is shown with its best neighbour, whatever the others have.
  WITH rows[nth] AS row, nth
  RETURN collect(row {.*, first: nth = 0}) AS near
}
// What leads to something further is shown no later than that.
WITH further, [row IN near | row {.*, score: reduce(most = row.score,
    f IN [f IN further WHERE f.source = row.neighbour AND f.entity = row.source] |
    CASE WHEN f.score > most THEN f.score ELSE most END)}] AS near
UNWIND near + further AS row
WITH row ORDER BY row.first DESC, row.score DESC, row.source <> row.entity, row.neighbour.key, row.source.key
// A pair may have come from both of its ends.
WITH row, elementId(row.source) AS source, elementId(row.neighbour) AS neighbour
WITH CASE WHEN source < neighbour THEN [source, neighbour] ELSE [neighbour, source] END AS pair,
     collect(row)[0] AS row
ORDER BY row.first DESC, row.score DESC, row.source <> row.entity, row.neighbour.key, row.source.key
WITH collect(row) AS rows
UNWIND rows[..$configuration.limit] AS row
RETURN row.kind AS kind, row.entity AS entity, row.source AS source, row.edge AS edge,
       row.neighbour AS neighbour, row.score AS score
