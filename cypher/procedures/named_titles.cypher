// kgp.namedTitles(question :: STRING, corpus :: STRING, limit = 10 :: INT) :: (passage :: NODE, title :: STRING, score :: FLOAT)
// The passages whose document's title is named in a question, the rarest and longest title first.
// mode: READ
// example: CALL custom.kgp.namedTitles('Who built the Ardfin Lighthouse?', 'demo', 5)
WITH [found IN apoc.text.regexGroups(toLower(normalize($question, NFKC)),
  '[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿]|(?:(?![々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿])[\\p{L}\\p{N}\\p{M}])+')
  | found[0]][..200] AS words
UNWIND range(0, size(words) - 1) AS first
UNWIND range(first + 1, CASE WHEN first + 12 < size(words) THEN first + 12 ELSE size(words) END) AS after
WITH first, after, apoc.text.join(words[first..after], ' ') AS text
MATCH (k:Keyword {corpus: $corpus, text: text})
WHERE k.named
WITH collect({keyword: k, first: first, after: after}) AS spans
// A title inside a longer one that is named too ("York" in "New York") is not meant.
UNWIND [s IN spans WHERE none(t IN spans WHERE t <> s AND t.first <= s.first AND t.after >= s.after)]
  AS span
WITH DISTINCT span.keyword AS keyword
MATCH (keyword)<-[own:HAS_KEYWORD {owned: true}]-(passage:Passage)
WITH passage, keyword, size(split(keyword.text, ' ')) / (1.0 + log(keyword.documentFrequency)) AS score
ORDER BY score DESC, passage.id
WITH passage, collect(keyword.text)[0] AS title, max(score) AS score
RETURN passage, title, score
ORDER BY score DESC, passage.id
LIMIT $limit
