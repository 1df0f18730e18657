// The first 200 words of `text` in lower case: runs of letters, digits and marks, and each Chinese or
// Japanese character by itself, as text/words.py cuts them. An expression. Nothing in a word can be
// an operator of a full-text query.
[found IN apoc.text.regexGroups(toLower(normalize(text, NFKC)),
  '[々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿]|(?:(?![々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿])[\\p{L}\\p{N}\\p{M}])+')
  | found[0]][..200]
