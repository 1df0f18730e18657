// The documents of the corpus `c` with the id, title or source $document, each as `d`.
MATCH (d:Document {corpus: c.name})
WHERE $document IN [d.id, d.title, d.source] OR toLower(d.title) = toLower($document)
