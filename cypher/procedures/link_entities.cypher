// kgp.linkEntities(text :: STRING, graph :: STRING, configuration = {} :: MAP) :: (entity :: NODE, score :: FLOAT, surface :: STRING, by :: STRING)
// The entities of a knowledge graph that a text names: those whose name stands in it with all its symbols
// (`by` is name, the longest counts), then those whose name or alias shares most words or pairs of Chinese
// characters with it (`by` is words, `score` a share of the best). Python links word forms, slips and
// meanings too.
// mode: READ
// task: knowledge graphs
// check: configuration, graph
// option: limit = 10 :: INT (0 to 10000), how many at most
// example: CALL custom.kgp.linkEntities('I have nausea and back pain', 'demo')
MATCH (g:KnowledgeGraph {name: $graph}) WHERE $text IS NOT NULL
WITH g, $text AS text, left($text, 1001) AS named, '[\\p{IsHan}\\p{IsHiragana}\\p{IsKatakana}ー]' AS han
// include: entity
WITH g, text, han, e AS whole, left(toLower(normalize(text, NFKC)), 10000) AS low,
  // include: words
  AS words
// Chinese is written without spaces.
WITH g, han, whole, low, words, [at IN range(0, size(words) - 1) |
  CASE WHEN at > 0 AND words[at] =~ han AND words[at - 1] =~ han THEN '' ELSE ' ' END + words[at]] AS spaced,
  // Where each word begins.
  reduce(found = [0], word IN words | found[..-1] + [
    found[-1] + size(split(substring(low, found[-1]), word)[0]),
    found[-1] + size(split(substring(low, found[-1]), word)[0]) + size(word)]) AS begins
CALL (g, whole, low, words, spaced, begins) {
  WITH g, whole, low, words, spaced, begins, size(spaced) AS count
  UNWIND CASE WHEN whole IS NULL THEN range(0, count - 1) ELSE [] END AS first
  UNWIND range(first + 1, CASE WHEN first + 12 < count THEN first + 12 ELSE count END) AS after
  WITH g, low, words, first, after, begins[first] AS begin, begins[after - 1] + size(words[after - 1]) AS end,
       trim(reduce(joined = '', word IN spaced[first..after] | joined + word)) AS joined
  WITH g, low, first, after, begin, end, joined, right(left(low, begin), 5) AS before,
       substring(low, end, 5) AS beyond, words[first] AS begun, words[after - 1] AS ended
  // A part of a name that is written as one is none: C of C++, TB of TB-12, node of node.js, 1 of 1/5.
  WITH *, before =~ '(?s)(?:.*\\s)?\\.|.*[\\p{L}\\p{N}]&|(?:.*[^\\p{L}\\p{N}])?[\\p{L}\\p{N}][-./]|.*\\p{N}[-.]'
       OR begun =~ '.*\\p{N}.*' AND before =~ '(?s).*[\\p{L}\\p{N}][-.]'
       OR begun =~ '\\p{N}+' AND before =~ '(?s)(?:.*[^\\p{L}\\p{N}])?\\p{N}+/'
       OR beyond =~ '(?s)(?:\\+(?![\\p{L}\\p{N}])|\\+\\+|#|&[\\p{L}\\p{N}]|[-.]\\p{N}|-\\p{L}(?![\\p{L}\\p{N}])|/[\\p{L}\\p{N}](?![\\p{L}\\p{N}+#])|\\.\\p{L}{1,3}(?![\\p{L}\\p{N}])).*'
       OR ended =~ '.*\\p{N}.*' AND beyond =~ '(?s)[-.][\\p{L}\\p{N}].*'
       OR ended =~ '\\p{N}+' AND beyond =~ '(?s)/\\p{N}++(?!\\p{L}).*' AS cut
  WITH *, CASE WHEN before =~ '(?s)(?:.*\\s)?\\.' THEN '.' ELSE '' END + substring(low, begin, end - begin) AS raw
  WITH *, [sign IN ['', '+++', '++', '+', '#', '*', '-', ')'] WHERE beyond STARTS WITH sign | raw + sign] AS written
  UNWIND CASE WHEN cut THEN written[1..] + CASE WHEN raw STARTS WITH '.' THEN [raw] ELSE [] END
    ELSE [joined] + [each IN written WHERE each <> joined] END AS surface
  MATCH (e:Entity {graph: g.name, key: surface})
  WITH collect({e: e, surface: surface, first: first, after: after}) AS spans
  RETURN [s IN spans WHERE none(t IN spans WHERE t <> s AND t.first <= s.first AND t.after >= s.after
    AND (t.after - t.first > s.after - s.first OR size(t.surface) > size(s.surface)))] AS named
}
CALL (g, low, words, whole, named, han) {
  WITH whole, low WHERE whole IS NOT NULL
  RETURN low AS surface, whole AS entity, 1.0 AS score, 'name' AS by, 0 AS place
  UNION
  UNWIND named AS s
  RETURN s.surface AS surface, s.e AS entity, 1.0 AS score, 'name' AS by, s.first AS place
  UNION
  WITH g, low, words, named, whole, trim(reduce(joined = '', i IN range(0, size(words) - 1) | joined + ' ' + words[i]
    + CASE WHEN words[i] =~ han AND coalesce(words[i + 1] =~ han, false) THEN words[i + 1] ELSE '' END)) AS terms
  WHERE terms <> ''
  CALL db.index.fulltext.queryNodes(
    'kgp_entity_text', '+scope:' + g.scope + '^0 +(name:(' + terms + ') aliases:(' + terms + '))',
    {limit: $configuration.limit + 12}) YIELD node, score
  // A name of one word of the text that was not found in it stands there with other symbols.
  WHERE score > 0 AND NOT node IN [s IN named | s.e] AND NOT coalesce(node = whole, false)
    AND NOT node.key IN words AND none(sign IN ['+', '#'] WHERE node.key CONTAINS sign AND NOT low CONTAINS sign)
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
