// explore.lacking(entities :: LIST OF STRING, others :: LIST OF STRING, graph :: STRING, relation :: STRING, forward :: BOOLEAN, question :: STRING, limit = 20 :: INT) :: (id :: STRING, name :: STRING, type :: STRING, related :: BOOLEAN, edges :: LIST OF MAP, total :: INT, among :: INT)
// The entities that a relation joins (from them on where `forward`) to something, but to none of the given
// entities (by id); where the question names their type, or all have one, those of the type that it joins
// to nothing come last (`related` is false). All are joined to each of the `others` in some way. `edges`
// are two by the relation; `total` counts what was found, `among` all that were looked at.
// mode: READ
MATCH (a:Entity {graph: $graph})-[r:$($relation)]->(b:Entity)
WHERE r.graph = $graph
WITH r, CASE WHEN $forward THEN [a, b] ELSE [b, a] END AS ends
WITH ends[0] AS x, collect(r)[..2] AS edges, collect(ends[1].id) AS joined
WITH collect({node: x, type: coalesce(x.type, ''), edges: edges, joined: joined}) AS joining
WITH joining, reduce(types = [], one IN joining |
       CASE WHEN one.type IN types THEN types ELSE types + one.type END) AS types
WITH joining, types, [t IN types
       WHERE t <> '' AND toLower($question) CONTAINS toLower(replace(t, '_', ' '))] AS named
WITH [one IN joining WHERE size(named) = 0 OR one.type IN named] AS joining,
     CASE WHEN size(named) > 0 THEN named WHEN types = [''] OR size(types) > 1 THEN [] ELSE types END AS whole
CALL (joining, whole) {
  UNWIND joining AS one
  RETURN one.node AS x, true AS related, one.edges AS edges, one.joined AS joined
  UNION ALL
  WITH [one IN joining | one.node] AS known, whole WHERE size(whole) > 0
  MATCH (x:Entity {graph: $graph})
  WHERE x.type IN whole AND NOT x IN known
  RETURN x, false AS related, [] AS edges, [] AS joined
}
WITH x, related, edges, none(id IN joined WHERE id IN $entities) AS lacks
WHERE NOT x.id IN $entities AND all(other IN $others WHERE EXISTS {
  MATCH (x)-[r]-(:Entity {id: other}) WHERE r.graph = $graph
})
WITH x, related, edges, lacks ORDER BY related DESC, x.key
WITH count(*) AS among, [row IN collect({node: x, related: related, edges: edges, lacks: lacks}) WHERE row.lacks] AS rows
UNWIND rows[..$limit] AS row
RETURN row.node.id AS id, row.node.name AS name, coalesce(row.node.type, '') AS type, row.related AS related,
       [r IN row.edges | {
         id: r.id, head: startNode(r).name, relation: type(r), tail: endNode(r).name,
         head_id: startNode(r).id, tail_id: endNode(r).id,
         head_type: coalesce(startNode(r).type, ''), tail_type: coalesce(endNode(r).type, '')
       }] AS edges, size(rows) AS total, among
