// The passages of the corpus `c` whose document's title is named in `words`. Leaves the 20 best each as
// `node` with the `title` and a `score`: more the longer and the rarer the title is.
CALL (c, words) {
  UNWIND range(0, size(words) - 1) AS first
  UNWIND range(first + 1, CASE WHEN first + 12 < size(words) THEN first + 12 ELSE size(words) END)
    AS after
  MATCH (k:Keyword {corpus: c.name, text: trim(reduce(title = '', word IN words[first..after] | title + ' ' + word))})
  WHERE k.named
  WITH collect({keyword: k, first: first, after: after}) AS spans
  // A title inside a longer one that is named too ("York" in "New York") is not meant.
  UNWIND [s IN spans
    WHERE none(t IN spans WHERE t <> s AND t.first <= s.first AND t.after >= s.after)] AS span
  WITH DISTINCT span.keyword AS k
  MATCH (k)<-[:HAS_KEYWORD {owned: true}]-(node:Passage)
  WITH node, k, size(split(k.text, ' ')) / (1.0 + log(k.documentFrequency)) AS score
  ORDER BY score DESC, node.id
  WITH node, collect(k.text)[0] AS title, max(score) AS score
  ORDER BY score DESC, node.id
  LIMIT 20
  RETURN node, title, score
}
