// upgrade.0008ShelfLabels(batch = 2000 :: INT) :: (changed :: INT)
// Gives passages the label that they are searched by: that of their language, or in a corpus of 500 or
// more one of its own. One index served all corpora before.
// mode: WRITE
MATCH (c:Corpus)
WITH c, coalesce(c.language, 'english') AS language,
     CASE WHEN COUNT { MATCH (:Passage {corpus: c.name}) } < 500 THEN null ELSE c.scope END AS own
MATCH (p:Passage {corpus: c.name})
CALL (p, own, language) {
  SET p:$(apoc.text.capitalize(coalesce(own, language)) + 'Passage')
  FOREACH (_ IN CASE WHEN own IS NULL THEN [] ELSE [1] END |
    REMOVE p:$(apoc.text.capitalize(language) + 'Passage'))
} IN TRANSACTIONS OF $batch ROWS
RETURN count(*) AS changed
