// connect.having(corpus :: STRING, rows :: LIST OF ANY, most :: INT, cased = false :: BOOLEAN) :: (key :: STRING, passages :: LIST OF STRING)
// The passages (by id) whose title or text has each phrase and its very words, `cased` or not; at most `most`
// of each, the best ones. Each row has a key, the phrase's words joined by spaces, and the phrase as a text
// writes it, since the index keeps some words together ("O'Brien"); no quotation mark or backslash is in either.
// mode: READ
MATCH (c:Corpus {name: $corpus})
UNWIND $rows AS row
WITH c, row, row[1] AS phrase,
  row[1] =~ '.*[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿가-힣].*' AS isCjk
CALL (c, row, phrase, isCjk) {
  CALL (c, row, phrase, isCjk) {
    WITH c, row, phrase, isCjk WHERE NOT isCjk
    CALL db.index.fulltext.queryNodes('kgp_passage_' + c.shelf,
      CASE c.shelf WHEN c.scope THEN '' ELSE '+scope:' + c.scope + '^0 ' END
        + '+(title:("' + phrase + '" "' + row[2] + '") text:("' + phrase + '" "' + row[2] + '"))', {limit: 1000})
    YIELD node
    RETURN node
    UNION ALL
    WITH c, row, isCjk WHERE isCjk
    CALL db.index.fulltext.queryNodes('kgp_passage_cjk',
      '+scope:' + c.scope + '^0 +(title:"' + row[2] + '" text:"' + row[2] + '")', {limit: 1000})
    YIELD node
    RETURN node
  }
  // The indexes take forms of a word for the same one.
  WITH node, normalize(node.title + ' ' + node.text, NFKC) AS text, split(phrase, ' ') AS words
  WHERE all(word IN words WHERE CASE WHEN $cased THEN text ELSE toLower(text) END CONTAINS word)
  WITH node LIMIT $most
  RETURN collect(node.id) AS passages
}
RETURN row[0] AS key, passages
