// explore.namedEntities(graph :: STRING, keys :: LIST OF STRING, terms :: STRING, limit = 200 :: INT) :: (id :: STRING, key :: STRING, name :: STRING, aliases :: LIST OF STRING, type :: STRING, degree :: INT)
// The entities of a knowledge graph whose name may stand in a text: those that have one of the keys, and
// those whose name or alias shares most with the terms, a full-text query.
// mode: READ
MATCH (g:KnowledgeGraph {name: $graph})
CALL (g) {
  UNWIND $keys AS key
  MATCH (e:Entity {graph: g.name, key: key})
  RETURN e
  UNION
  WITH g WHERE $terms <> ''
  CALL db.index.fulltext.queryNodes(
    'kgp_entity_text', '+scope:' + g.scope + '^0 +(name:(' + $terms + ') aliases:(' + $terms + '))',
    {limit: $limit}) YIELD node AS e
  RETURN e
}
RETURN e.id AS id, e.key AS key, e.name AS name, coalesce(e.aliases, []) AS aliases,
       coalesce(e.type, '') AS type, COUNT { (e)--() } AS degree
