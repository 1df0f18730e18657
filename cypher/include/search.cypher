// Full-text search of the corpus `c` for one word or more. Needs `terms`, words joined by spaces, and
// `most`. Leaves `node` and `score`, BM25. The index is the corpus's own, or that of the small corpora
// of its language; where a word is Chinese, Japanese or Korean, passages with such text are searched by
// pairs of characters.
CALL (c, terms, most) {
  WITH c, terms, most, terms =~ '.*[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿가-힣].*' AS isCjk
  CALL (c, terms, most, isCjk) {
    CALL db.index.fulltext.queryNodes('kgp_passage_' + c.shelf,
      CASE c.shelf WHEN c.scope THEN '' ELSE '+scope:' + c.scope + '^0 ' END
        + '+(title:(' + terms + ') text:(' + terms + '))', {limit: most})
    YIELD node, score
    WHERE NOT (isCjk AND node:CjkPassage)
    RETURN node, score
    UNION ALL
    UNWIND CASE WHEN isCjk THEN [apoc.text.replace(terms,
      '(?<=[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿]) (?=[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿])', '')] ELSE [] END AS cjk
    // In Korean other letters and what follows them without a space are one word of the index ("Neo4j를").
    WITH c, most, CASE WHEN cjk =~ '.*[가-힣].*'
      THEN apoc.text.replace(cjk, '(?<!\\S)([\\p{IsLatin}\\p{N}]{2,})([가-힣]*)(?!\\S)', '$1* $2')
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
