// inspect.names(label = 'Corpus' :: STRING) :: (name :: STRING)
// The names of all corpora, or of all knowledge graphs (label: KnowledgeGraph).
// mode: READ
MATCH (n:Corpus|KnowledgeGraph)
WHERE $label IN labels(n)
RETURN n.name AS name
ORDER BY name
