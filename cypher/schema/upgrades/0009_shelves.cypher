// upgrade.0009Shelves() :: (changed :: INT)
// Writes down by which label the passages of each corpus are searched: that of its language, or one of
// its own.
// mode: WRITE
MATCH (c:Corpus)
WHERE c.shelf IS NULL
SET c.language = coalesce(c.language, 'english'),
    c.shelf = CASE WHEN EXISTS {
        MATCH (p:Passage {corpus: c.name}) WHERE apoc.text.capitalize(c.scope) + 'Passage' IN labels(p)
      } THEN c.scope ELSE coalesce(c.language, 'english') END
RETURN count(*) AS changed
