// What full-text search looks for in `text`: its `words`, and those that a dot, a comma or a line joins
// without a space ("example.com", "1,000"), which the index keeps as one. An expression.
apoc.text.join(words + [found IN apoc.text.regexGroups(toLower(normalize(text, NFKC)),
  '[\\p{L}\\p{N}]+(?:(?:[._]|(?<=\\p{N}),(?=\\p{N}))[\\p{L}\\p{N}]+)+')
  | found[0]][..50], ' ')
