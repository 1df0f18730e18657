// Of an entity or document `e`, which 2 to $maxFrequency of $passages mention, how `rare` it is, 0 to 1; a phrase
// of one word is half as rare.
WITH *, COUNT { (e)<-[:MENTIONS]-() } AS frequency
WHERE 2 <= frequency <= $maxFrequency
WITH *, log(1 + toFloat($passages) / frequency) / log(1 + $passages)
  * CASE WHEN e.type = 'Phrase' AND NOT e.name CONTAINS ' ' THEN 0.5 ELSE 1.0 END AS rare
