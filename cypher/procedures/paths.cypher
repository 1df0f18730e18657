// kgp.paths(entities :: LIST OF ANY, graph :: STRING, configuration = {} :: MAP) :: (path :: LIST OF NODE, score :: FLOAT, edges :: LIST OF RELATIONSHIP, hops :: INT)
// MindMap's path-based exploration (section 3.1): from each entity to the nearest of the others within
// `maxHops`, over relationships in both directions, on from there, and afresh from an entity that is
// not reached. Segments are joined where they meet. Shortest paths come first, and among those of one
// length the ones whose inner entities touch most of the given ones: `score` is one more than these,
// divided by the hops. Entities are nodes, ids or names; the first twelve count.
// mode: READ
// task: knowledge graphs
// check: configuration, graph, entities
// option: maxHops = 5 :: INT (1 to 10), how long a segment between two entities may be
// option: limit = 10 :: INT (1 to 1000), how many paths at most, and shortest paths of each pair
// option: timeout = 1000 :: INT (1 to 600000), milliseconds after which the search ends with what it has
// example: CALL custom.kgp.paths(['Fatigue', 'Nausea'], 'demo', {maxHops: 4, limit: 5})
WITH $entities AS entities
MATCH (g:KnowledgeGraph {name: $graph})
// include: entities
WITH [one IN given | one.node] AS given
WITH given, size(given) - 1 AS last, datetime.realtime() + duration({milliseconds: $configuration.timeout}) AS until
WHERE last > 0
// Where the time is over, no pair is begun and no relationship followed: what was found counts. How long
// a path may be is no parameter in Cypher, and a search for longer ones than asked for takes longer.
CALL (given, last, until) {
  UNWIND range(0, last - 1) AS i
  UNWIND range(i + 1, last) AS j
  WITH i, j, given[i] AS a, given[j] AS b
  WHERE datetime.realtime() < until
  CALL (a, b, until) {
    CALL (a, b, until) {
      WITH a, b, until WHERE $configuration.maxHops <= 2
      MATCH p = allShortestPaths((a)-[*..2]-(b))
      WHERE all(r IN relationships(p) WHERE r.graph = $graph)
        AND all(n IN nodes(p) WHERE datetime.realtime() < until)
      RETURN p
      UNION ALL
      WITH a, b, until WHERE $configuration.maxHops = 3
      MATCH p = allShortestPaths((a)-[*..3]-(b))
      WHERE all(r IN relationships(p) WHERE r.graph = $graph)
        AND all(n IN nodes(p) WHERE datetime.realtime() < until)
      RETURN p
      UNION ALL
      WITH a, b, until WHERE $configuration.maxHops = 4
      MATCH p = allShortestPaths((a)-[*..4]-(b))
      WHERE all(r IN relationships(p) WHERE r.graph = $graph)
        AND all(n IN nodes(p) WHERE datetime.realtime() < until)
      RETURN p
      UNION ALL
      WITH a, b, until WHERE $configuration.maxHops = 5
      MATCH p = allShortestPaths((a)-[*..5]-(b))
      WHERE all(r IN relationships(p) WHERE r.graph = $graph)
        AND all(n IN nodes(p) WHERE datetime.realtime() < until)
      RETURN p
      UNION ALL
      WITH a, b, until WHERE $configuration.maxHops = 6
      MATCH p = allShortestPaths((a)-[*..6]-(b))
      WHERE all(r IN relationships(p) WHERE r.graph = $graph)
        AND all(n IN nodes(p) WHERE datetime.realtime() < until)
      RETURN p
      UNION ALL
      WITH a, b, until WHERE $configuration.maxHops > 6
      MATCH p = allShortestPaths((a)-[*..10]-(b))
      WHERE all(r IN relationships(p) WHERE r.graph = $graph)
        AND all(n IN nodes(p) WHERE datetime.realtime() < until)
      RETURN p
    }
    // Parallel relationships make the same way.
    WITH DISTINCT nodes(p) AS way WHERE size(way) <= $configuration.maxHops + 1
    RETURN way LIMIT 8 * $configuration.limit
  }
  RETURN [i, j] AS pair, way
}
WITH given, last, collect({pair: pair, way: way}) AS each
CALL (given, each) {
  UNWIND range(0, size(each) - 1) AS nth
  WITH nth, each[nth].way[1..-1] AS inner
  UNWIND CASE inner WHEN [] THEN [null] ELSE range(0, size(inner) - 1) END AS at
  // What each inner entity touches is looked up once: between two hubs that takes a while.
  WITH inner[at] AS n, collect([nth, at]) AS places
  WITH places, n.name AS name, size([g IN given WHERE EXISTS { (n)--(g) }]) AS touched
  UNWIND places AS place
  WITH place[0] AS nth, name, touched ORDER BY nth, place[1]
  WITH each[nth] AS one, sum(touched) AS support, collect(name) AS names, nth
  RETURN one.pair AS pair, [n IN one.way | elementId(n)] AS way, size(one.way) - 1 AS hops, support, names
}
WITH given, last, pair, way, hops, support, names
ORDER BY support DESC, names
WITH given, last, pair, hops, collect({way: way, support: support})[..$configuration.limit] AS ways
WITH given, last, collect({pair: pair, hops: hops, ways: ways}) AS found
// From each entity: on to the nearest one not visited yet, else afresh from the next one.
UNWIND range(0, last) AS begin
WITH given, found, begin, reduce(
  s = {at: begin, left: [x IN range(0, last) WHERE x <> begin], done: [], now: []},
  turn IN range(1, last) |
  [step IN [coalesce(
      reduce(least = null, f IN [f IN found
          WHERE (f.pair[0] = s.at AND f.pair[1] IN s.left)
             OR (f.pair[1] = s.at AND f.pair[0] IN s.left)
          | {hops: f.hops, to: CASE WHEN f.pair[0] = s.at THEN f.pair[1] ELSE f.pair[0] END,
             back: f.pair[1] = s.at, ways: f.ways}]
        | CASE WHEN f.hops < least.hops OR (f.hops = least.hops AND f.to < least.to) OR least IS NULL
               THEN f ELSE least END),
      {to: s.left[0]})]
   | {at: step.to, left: [x IN s.left WHERE x <> step.to],
      done: CASE WHEN step.ways IS NULL AND size(s.now) > 0 THEN s.done + [s.now] ELSE s.done END,
      now: CASE WHEN step.ways IS NULL THEN [] ELSE s.now + [step] END}][0]) AS s
UNWIND s.done + CASE WHEN size(s.now) > 0 THEN [s.now] ELSE [] END AS chain
// The n-th path takes the n-th way of every segment that has so many.
UNWIND range(0, reduce(most = 0, step IN chain |
  CASE WHEN size(step.ways) > most THEN size(step.ways) ELSE most END) - 1) AS nth
WITH chain, [step IN chain | {back: step.back,
       way: step.ways[CASE WHEN nth < size(step.ways) THEN nth ELSE 0 END]}] AS steps
WITH reduce(n = 0, step IN steps | n + step.way.support) AS support,
     reduce(ids = [], step IN steps |
       ids + CASE WHEN step.back THEN reverse(step.way.way) ELSE step.way.way END
             [CASE WHEN size(ids) > 0 THEN 1 ELSE 0 END..]) AS ids
// A way and the same way back are one.
WITH CASE WHEN head(ids) < last(ids) THEN ids ELSE reverse(ids) END AS same,
     collect({ids: ids, support: support})[0] AS first
WITH first.ids AS ids, first.support AS support
WITH ids, support, any(at IN range(1, size(ids) - 1) WHERE ids[at] IN ids[..at]) AS again
// One that comes by an entity twice goes behind those of its length that do not.
ORDER BY size(ids), again, support DESC, ids
WITH collect({ids: ids, support: support}) AS rows
UNWIND rows[..$configuration.limit] AS row
WITH row.ids AS ids, row.support AS support
CALL (ids) {
  UNWIND range(0, size(ids) - 2) AS at
  MATCH (a:Entity) WHERE elementId(a) = ids[at]
  MATCH (b:Entity) WHERE elementId(b) = ids[at + 1]
  // A query of its own for each pair: planned together, all relationships of a hub are read.
  CALL (a, b) {
    MATCH (a)-[r]-(b) WHERE r.graph = $graph
    // Of parallel relationships the one that runs along the way is shown.
    RETURN r ORDER BY CASE WHEN startNode(r) = a THEN 0 ELSE 1 END, type(r) LIMIT 1
  }
  WITH at, a, b, r AS edge ORDER BY at
  RETURN collect(a) + collect(b)[-1..] AS nodes, collect(edge) AS edges
}
RETURN nodes AS path, (1.0 + support) / size(edges) AS score, edges, size(edges) AS hops
ORDER BY hops, score DESC, [n IN path | n.name]
