// kgp.linkEntities(text :: STRING, graph :: STRING, configuration = {} :: MAP) :: (entity :: NODE, score :: FLOAT, surface :: STRING, by :: STRING)
// The entities of a knowledge graph that a text names: those whose name stands in it (`by` is name, and
// the longest counts), then those whose name or alias shares most words or pairs of Chinese characters
// with it (`by` is words, `score` a share of the best). Python also links word forms and meanings.
// mode: READ
// check: configuration, graph
// option: limit = 10 :: INT (0 to 10000), how many at most
// example: CALL custom.kgp.linkEntities('I have nausea and back pain', 'demo')
MATCH (g:KnowledgeGraph {name: $graph})
WITH g, $text AS text, '[\\p{IsHan}\\p{IsHiragana}\\p{IsKatakana}ー]' AS han
WITH g, han,
  // include: words
  AS words
WHERE size(words) > 0
// Chinese is written without spaces.
WITH g, han, words, [at IN range(0, size(words) - 1) |
  CASE WHEN at > 0 AND words[at] =~ han AND words[at - 1] =~ han THEN '' ELSE ' ' END + words[at]] AS spaced
CALL (g, spaced) {
  WITH g, spaced, size(spaced) AS count
  UNWIND range(0, count - 1) AS first
  UNWIND range(first + 1, CASE WHEN first + 12 < count THEN first + 12 ELSE count END) AS after
  WITH g, first, after,
       trim(reduce(joined = '', word IN spaced[first..after] | joined + word)) AS surface
  MATCH (e:Entity {graph: g.name, key: surface})
  WITH collect({e: e, surface: surface, first: first, after: after}) AS spans
  RETURN [s IN spans
    WHERE none(t IN spans WHERE t <> s AND t.first <= s.first AND t.after >= s.after)] AS named
}
CALL (g, words, named, han) {
  UNWIND named AS s
  RETURN s.surface AS surface, s.e AS entity, 1.0 AS score, 'name' AS by, s.first AS place
  UNION
  WITH g, named, trim(reduce(joined = '', i IN range(0, size(words) - 1) | joined + ' ' + words[i] + CASE
    WHEN words[i] =~ han AND coalesce(words[i + 1] =~ han, false) THEN words[i + 1] ELSE '' END)) AS terms
  CALL db.index.fulltext.queryNodes(
    'kgp_entity_text', '+scope:' + g.scope + '^0 +(name:(' + terms + ') aliases:(' + terms + '))',
    {limit: $configuration.limit + 12}) YIELD node, score
  WHERE score > 0 AND NOT node IN [s IN named | s.e]
  WITH node, score ORDER BY score DESC, node.key
  WITH collect({node: node, score: score}) AS found
  UNWIND found AS f
  RETURN f.node.name AS surface, f.node AS entity, 0.9 * f.score / found[0].score AS score,
         'words' AS by, 0 AS place
}
WITH entity, score, surface, by
ORDER BY score DESC, place, entity.key
WITH collect({entity: entity, score: score, surface: surface, by: by}) AS rows
UNWIND rows[..$configuration.limit] AS row
RETURN row.entity AS entity, row.score AS score, row.surface AS surface, row.by AS by
