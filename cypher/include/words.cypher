// The first 200 words of `text` (of its first 10,000 characters) in lower case: runs of letters, digits
// and marks, and each Chinese or Japanese character by itself, as text/words.py cuts them. An
// expression. Nothing in a word can be an operator of a full-text query.
[word IN split(reduce(low = left(toLower(normalize(text, NFKC)), 10000), sign IN COLLECT {
    WITH left(toLower(normalize(text, NFKC)), 10000) AS low
    // `split` halves characters beyond the first 65,536, and counting to one takes as long as it is far.
    UNWIND CASE WHEN low =~ '(?s).*[\\x{10000}-\\x{10FFFF}].*'
      THEN [at IN range(0, size(low) - 1) | substring(low, at, 1)] ELSE split(low, '') END AS sign
    WITH DISTINCT sign
    WHERE NOT sign =~ '[\\p{L}\\p{N}\\p{M}&&[^\\p{IsHan}\\p{IsHiragana}\\p{IsKatakana}ー〆]]'
    RETURN sign
  } | replace(low, sign, CASE
    WHEN sign =~ '[\\p{IsHan}\\p{IsHiragana}\\p{IsKatakana}ー〆]' THEN ' ' + sign + ' ' ELSE ' ' END)), ' ')
  WHERE word <> ''][..200]
