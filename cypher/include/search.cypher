// Full-text search of the corpus `c` for one word or more. Needs `terms`, words joined by spaces, and
// `most`. Leaves `node` and `score`, BM25.
CALL db.index.fulltext.queryNodes('kgp_passage_text',
  '+scope:' + c.scope + '^0 +(title:(' + terms + ') text:(' + terms + '))', {limit: most})
YIELD node, score
// Of a question of stop words alone nothing is left but the scope, which scores 0.
WHERE score > 0
