// install.shelfIndexes() :: (corpora :: INT)
// Makes the indexes that each corpus is searched by, unless they are there: those of its language,
// and of a large corpus its own. A database that was imported from files has none.
// mode: WRITE
CALL () {
  MATCH (c:Corpus) WHERE c.language IS NOT NULL
  WITH DISTINCT c.language AS shelf, c.language AS analyzer
  // include: text_index
  RETURN count(*) AS languages
}
MATCH (c:Corpus) WHERE c.shelf = c.scope
// include: own_shelf
RETURN count(*) AS corpora
