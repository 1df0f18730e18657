// connect.having(corpus :: STRING, rows :: LIST OF ANY, most :: INT, cased = false :: BOOLEAN) :: (key :: STRING, passages :: LIST OF STRING)
// The passages (by id) whose title or text has each phrase and its very words, `cased` or not; at most `most`
// of each, the best ones. Each row has a key and the phrase, words joined by a space.
// mode: READ
MATCH (c:Corpus {name: $corpus})
UNWIND $rows AS row
WITH c, row, row[1] AS phrase
CALL (c, phrase) {
  CALL db.index.fulltext.queryNodes('kgp_passage_' + c.shelf,
    CASE c.shelf WHEN c.scope THEN '' ELSE '+scope:' + c.scope + '^0 ' END
      + '+(title:"' + phrase + '" text:"' + phrase + '")', {limit: 1000})
  YIELD node
  // The index takes forms of a word for the same one.
  WITH node, node.title + ' ' + node.text AS text, split(phrase, ' ') AS words
  WHERE all(word IN words WHERE CASE WHEN $cased THEN text ELSE toLower(text) END CONTAINS word)
  RETURN collect(node.id)[..$most] AS passages
}
RETURN row[0] AS key, passages
