// load.languageIndex(language :: STRING) :: (index :: STRING)
// Makes the full-text index of the small corpora of a language, unless it is there. Their passages
// have the language's label (GermanPassage) beside Passage. The language must be the name of an
// analyzer, so that no other text gets into the statement.
// mode: WRITE
CALL db.index.fulltext.listAvailableAnalyzers() YIELD analyzer
WITH analyzer, analyzer AS shelf WHERE analyzer = $language
// include: text_index
RETURN 'kgp_passage_' + shelf AS index
