// How `rare` it is that a passage mentions the entity or document `e`, of which `frequency` of $passages do, 0 to 1;
// a phrase of one word is half as rare.
WITH *, COUNT { (e)<-[:MENTIONS]-() } AS frequency
WITH *, log(1 + toFloat($passages) / frequency) / log(1 + $passages)
  * CASE WHEN e.type = 'Phrase' AND NOT e.name CONTAINS ' ' THEN 0.5 ELSE 1.0 END AS rare
