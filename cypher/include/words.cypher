// The first 200 words of `text` in lower case: runs of letters, digits and marks, and each Chinese or
// Japanese character by itself, as text/words.py cuts them. An expression. Nothing in a word can be
// an operator of a full-text query.
[word IN apoc.text.regexGroups(toLower(normalize(text, NFKC)),
  '[\\p{IsHan}\\p{IsHiragana}\\p{IsKatakana}ー〆]|[\\p{L}\\p{N}\\p{M}&&[^\\p{IsHan}\\p{IsHiragana}\\p{IsKatakana}ー〆]]+')
  | word[0]][..200]
