// Full-text search of the corpus `c` for one word of `words` or more. Needs also the `text` that they are
// of, and `most`. Leaves `node` and `score`, BM25. Words that a dot, a comma or a line joins without a
// space ("example.com", "1,000") are searched as one too, since the index has them so. The index is the
// corpus's own, so that words of others count nothing, or that of its language. It is asked for some more:
// which of those that score alike it gives first depends on where they lie in it, and here on their ids.
// Where a word is Chinese, Japanese or Korean,
// passages with such text are searched by pairs of characters, in an index of their own.
CALL (c, text, words, most) {
  WITH c, most, words + COLLECT {
    WITH left(toLower(normalize(text, NFKC)), 10000) AS low
    WHERE low =~ '(?s).*[\\p{L}\\p{N}][._,][\\p{L}\\p{N}].*'
    UNWIND split(low, COLLECT {
      UNWIND split(low, '') AS sign
      WITH DISTINCT sign WHERE NOT sign =~ '[\\p{L}\\p{N}._,]'
      RETURN sign
    }) AS run
    WITH run WHERE run =~ '.*[\\p{L}\\p{N}][._,][\\p{L}\\p{N}].*'
    WITH [at IN range(0, size(run) - 1) | substring(' ' + run + ' ', at, 3)] AS threes
    UNWIND split(reduce(joined = '', three IN threes | joined + CASE
        WHEN three =~ '.[\\p{L}\\p{N}].|[\\p{L}\\p{N}][._][\\p{L}\\p{N}]|\\p{N},\\p{N}'
        THEN substring(three, 1, 1) ELSE ' ' END), ' ') AS word
    WITH word WHERE word =~ '.*[._,].*'
    RETURN word LIMIT 50
  } AS sought
  WHERE size(sought) > 0
  WITH c, most, sought, trim(reduce(all = '', word IN sought | all + ' ' + word)) AS terms,
    '.*[\\p{IsHan}\\p{IsHiragana}\\p{IsKatakana}ー〆]' AS single
  WITH c, most, sought, terms, single, terms =~ single + '.*' OR terms =~ '.*\\p{IsHangul}.*' AS isCjk
  CALL (c, sought, terms, most, isCjk, single) {
    CALL db.index.fulltext.queryNodes('kgp_passage_' + c.shelf,
      CASE c.shelf WHEN c.scope THEN '' ELSE '+scope:' + c.scope + '^0 ' END
        + '+(title:(' + terms + ') text:(' + terms + '))', {limit: most + 50})
    YIELD node, score
    WHERE NOT (isCjk AND node:CjkPassage)
    WITH most, node, score ORDER BY score DESC, node.id
    WITH most, collect([node, score]) AS found
    UNWIND found[..most] AS one
    RETURN one[0] AS node, one[1] AS score
    UNION ALL
    // In Korean other letters and what follows them without a space are one word of the index ("Neo4j를").
    WITH c, most, sought, single, terms =~ '.*\\p{IsHangul}.*' AS korean WHERE isCjk
    WITH c, most, single, [word IN sought | CASE
      WHEN NOT (korean AND word =~ '[\\p{IsLatin}\\p{N}]{2,}\\p{IsHangul}*') THEN word
      ELSE reduce(latin = '', sign IN split(word, '') |
             latin + CASE WHEN sign =~ '\\p{IsHangul}' THEN '' ELSE sign END) + '* '
         + reduce(rest = '', sign IN split(word, '') |
             rest + CASE WHEN sign =~ '\\p{IsHangul}' THEN sign ELSE '' END) END] AS pieces
    // Characters that stand by themselves are written without spaces.
    WITH c, most, reduce(all = '', piece IN pieces | all
      + CASE WHEN all =~ single AND left(piece, 1) =~ single THEN '' ELSE ' ' END + piece) AS joined
    CALL db.index.fulltext.queryNodes('kgp_passage_' + CASE WHEN c.cjk THEN c.scope + 'Cjk' ELSE 'cjk' END,
      '+scope:' + c.scope + '^0 +(title:(' + joined + ') text:(' + joined + '))', {limit: most + 50})
    YIELD node, score
    WITH most, node, score ORDER BY score DESC, node.id
    WITH most, collect([node, score]) AS found
    UNWIND found[..most] AS one
    RETURN one[0] AS node, one[1] AS score
  }
  RETURN node, score
}
WITH *
// Of a question of stop words alone nothing is left but the scope, which scores 0.
WHERE score > 0
