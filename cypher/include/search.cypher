// Full-text search of the corpus `c` for one word or more. Needs `terms`, words joined by spaces, and
// `most`. Leaves `node` and `score`, BM25. The index is that of the corpus's language; where a word is
// Chinese, Japanese or Korean, passages with such text are searched by pairs of characters.
CALL (c, terms, most) {
  WITH c, terms, most, terms =~ '.*[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿가-힣].*' AS isCjk
  CALL (c, terms, most, isCjk) {
    CALL db.index.fulltext.queryNodes(CASE coalesce(c.language, 'english')
        WHEN 'english' THEN 'kgp_passage_text' ELSE 'kgp_passage_' + c.language END,
      '+scope:' + c.scope + '^0 +(title:(' + terms + ') text:(' + terms + '))', {limit: most})
    YIELD node, score
    WHERE NOT (isCjk AND node:CjkPassage)
    RETURN node, score
    UNION ALL
    UNWIND CASE WHEN isCjk THEN [apoc.text.replace(terms,
      '(?<=[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿]) (?=[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿])', '')] ELSE [] END AS joined
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
