// Full-text search of the corpus `c` for one word of `words` or more. Needs also the `text` that they are
// of, and `most`. Leaves `node` and `score`, BM25. Words that a dot, a comma or a line joins without a
// space ("example.com", "1,000") are searched as one too, since the index has them so. The index is the
// corpus's own, or that of the small corpora of its language; where a word is Chinese, Japanese or Korean,
// passages with such text are searched by pairs of characters.
CALL (c, text, words, most) {
  WITH c, most, apoc.text.join(words + [word IN apoc.text.regexGroups(toLower(normalize(text, NFKC)),
    '[\\p{L}\\p{N}]+(?:(?:[._]|(?<=\\p{N}),(?=\\p{N}))[\\p{L}\\p{N}]+)+') | word[0]][..50], ' ') AS terms,
    '[\\p{IsHan}\\p{IsHiragana}\\p{IsKatakana}ー〆]' AS single
  WHERE size(words) > 0
  WITH c, terms, most, single, terms =~ '.*(' + single + '|\\p{IsHangul}).*' AS isCjk
  CALL (c, terms, most, isCjk, single) {
    CALL db.index.fulltext.queryNodes('kgp_passage_' + c.shelf,
      CASE c.shelf WHEN c.scope THEN '' ELSE '+scope:' + c.scope + '^0 ' END
        + '+(title:(' + terms + ') text:(' + terms + '))', {limit: most})
    YIELD node, score
    WHERE NOT (isCjk AND node:CjkPassage)
    RETURN node, score
    UNION ALL
    UNWIND CASE WHEN isCjk
      THEN [apoc.text.replace(terms, '(?<=' + single + ') (?=' + single + ')', '')] ELSE [] END AS cjk
    // In Korean other letters and what follows them without a space are one word of the index ("Neo4j를").
    WITH c, most, CASE WHEN cjk =~ '.*\\p{IsHangul}.*'
      THEN apoc.text.replace(cjk, '(?<!\\S)([\\p{IsLatin}\\p{N}]{2,})(\\p{IsHangul}*)(?!\\S)', '$1* $2')
      ELSE cjk END AS joined
    CALL db.index.fulltext.queryNodes('kgp_passage_cjk',
      '+scope:' + c.scope + '^0 +(title:(' + joined + ') text:(' + joined + '))', {limit: most})
    YIELD node, score
    RETURN node, score
  }
  RETURN node, score
}
WITH *
// Of a question of stop words alone nothing is left but the scope, which scores 0.
WHERE score > 0
