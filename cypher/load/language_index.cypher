// load.languageIndex(language :: STRING) :: (index :: STRING)
// Makes the full-text index of the small corpora of a language, unless it is there. Their passages
// have the language's label (GermanPassage) beside Passage. The language must be `other`, or the name
// of an analyzer, so that no other text gets into the statement.
// mode: WRITE
CALL db.index.fulltext.listAvailableAnalyzers() YIELD analyzer AS known
WITH collect(known) + 'other' AS known
WITH $language AS analyzer, $language AS shelf WHERE $language IN known
// include: text_index
RETURN 'kgp_passage_' + shelf AS index
