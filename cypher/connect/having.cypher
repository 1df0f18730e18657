// connect.having(corpus :: STRING, rows :: LIST OF ANY, most :: INT, cased = false :: BOOLEAN) :: (key :: STRING, passages :: LIST OF STRING)
// The passages (by id) whose title or text has each phrase and its very words, `cased` or not; at most `most`
// of each, the best ones. Each row has a key, the phrase's words joined by spaces, and the phrase as a text
// writes it, since the index keeps some words together ("O'Brien"); no quotation mark or backslash is in either.
// mode: READ
MATCH (c:Corpus {name: $corpus})
UNWIND $rows AS row
CALL (c, row) {
  WITH c, row, ['"' + row[1] + '"', '"' + row[2] + '"'] AS words, '' AS text, 1000 AS most
  // include: search
  // The indexes take forms of a word for the same one.
  WITH node, normalize(node.title + ' ' + node.text, NFKC) AS text, split(row[1], ' ') AS words
  WHERE all(word IN words WHERE CASE WHEN $cased THEN text ELSE toLower(text) END CONTAINS word)
  WITH node LIMIT $most
  RETURN collect(node.id) AS passages
}
RETURN row[0] AS key, passages
