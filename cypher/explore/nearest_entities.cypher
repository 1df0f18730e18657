// explore.nearestEntities(graph :: STRING, phrases :: LIST OF MAP, limit = 4 :: INT, floor = 0.5 :: FLOAT) :: (phrase :: STRING, id :: STRING, name :: STRING, type :: STRING, score :: FLOAT)
// The entities of a knowledge graph whose names are nearest to each phrase: a row of `phrases` has its
// text and a unit vector. `score` is the cosine. All that are no further than `floor` are found, up to
// the limit.
// mode: READ
UNWIND $phrases AS phrase
CALL (phrase) {
  // The index serves all graphs, so more are asked for than are wanted.
  CALL db.index.vector.queryNodes('kgp_entity_embedding', 200, phrase.vector) YIELD node, score
  WITH node, score ORDER BY score DESC
  WITH collect({node: node, score: score}) AS found
  RETURN [n IN found WHERE n.node.graph = $graph][..$limit] AS near,
         size(found) = 200 AND 2 * found[-1].score - 1 > $floor AS more
}
WITH collect({phrase: phrase, near: near, crowded: more AND size(near) < $limit}) AS found
CALL (found) {
  UNWIND found AS f
  WITH f WHERE NOT f.crowded
  UNWIND f.near AS n
  // The index's own score is rounded.
  RETURN f.phrase.text AS phrase, n.node AS node,
         vector.similarity.cosine(n.node.embedding, f.phrase.vector) AS score
  UNION ALL
  // Where other graphs crowd this one out, it is scanned, once for all such phrases.
  WITH [f IN found WHERE f.crowded | f.phrase] AS rest
  WHERE size(rest) > 0
  MATCH (e:Entity {graph: $graph})
  WHERE e.key IS NOT NULL AND e.embedding IS NOT NULL
  UNWIND rest AS p
  WITH p.text AS phrase, e AS node, vector.similarity.cosine(e.embedding, p.vector) AS score
  ORDER BY score DESC, node.key
  WITH phrase, collect({node: node, score: score})[..$limit] AS near
  UNWIND near AS n
  RETURN phrase, n.node AS node, n.score AS score
}
RETURN phrase, node.id AS id, node.name AS name, coalesce(node.type, '') AS type,
       2 * score - 1 AS score
ORDER BY phrase, score DESC, node.key
