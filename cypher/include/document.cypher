// Raises an error unless the corpus `c` has a document with the id, title or source $document. Leaves
// each of these documents as `d`.
CALL (c) {
  MATCH (x:Document {corpus: c.name})
  WHERE $document IN [x.id, x.title, x.source] OR toLower(x.title) = toLower($document)
  RETURN collect(x) AS documents
}
CALL apoc.util.validate(size(documents) = 0, 'the corpus %s has no document with the id, title or source %s',
  [$corpus, $document])
UNWIND documents AS d
