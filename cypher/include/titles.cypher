// The titles of documents of the corpus `c` that are named in `words`. Leaves each as the keyword `k`.
UNWIND range(0, size(words) - 1) AS first
UNWIND range(first + 1, CASE WHEN first + 12 < size(words) THEN first + 12 ELSE size(words) END)
  AS after
MATCH (k:Keyword {corpus: c.name, text: apoc.text.join(words[first..after], ' ')})
WHERE k.named
WITH collect({keyword: k, first: first, after: after}) AS spans
// A title inside a longer one that is named too ("York" in "New York") is not meant.
UNWIND [s IN spans
  WHERE none(t IN spans WHERE t <> s AND t.first <= s.first AND t.after >= s.after)] AS span
WITH DISTINCT span.keyword AS k
