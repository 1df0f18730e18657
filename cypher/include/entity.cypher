// The entity of the knowledge graph `g` whose id or name is `named`, as `e`; null without one. A name
// is compared in small letters, each run of spaces or low lines as one space.
OPTIONAL CALL (g, named) {
  WITH g, named, toLower(normalize(toString(named), NFKC)) AS text
  WITH g, named, split(text, ['_'] + [c IN split(text, '') WHERE c =~ '(?U)\\s']) AS words
  WITH g, named, trim(reduce(key = '', word IN words |
    CASE word WHEN '' THEN key ELSE key + ' ' + word END)) AS key
  CALL (g, named, key) {
    MATCH (e:Entity {id: named}) WHERE e.graph = g.name RETURN e
    UNION
    MATCH (e:Entity {graph: g.name, key: key}) RETURN e
  }
  RETURN e
}
