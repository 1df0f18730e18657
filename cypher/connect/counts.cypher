// connect.counts(corpus :: STRING) :: (keywords :: INT, keywordLinks :: INT, sharedKeywordEdges :: INT, mentions :: INT, entities :: INT, sharedEntityEdges :: INT)
// How many keywords a corpus has, entities that no document is about, and relationships to both and
// between passages that share them.
// mode: READ
OPTIONAL MATCH (p:Passage {corpus: $corpus})
WITH sum(COUNT { (p)-[:HAS_KEYWORD]->() }) AS keywordLinks,
     sum(COUNT { (p)-[:SHARES_KEYWORD]->() }) AS sharedKeywordEdges,
     sum(COUNT { (p)-[:MENTIONS]->() }) AS mentions,
     sum(COUNT { (p)-[:SHARES_ENTITY]->() }) AS sharedEntityEdges
RETURN COUNT { MATCH (k:Keyword {corpus: $corpus}) WHERE k.text >= '' } AS keywords, keywordLinks, sharedKeywordEdges,
       mentions, COUNT { MATCH (e:NamedEntity {corpus: $corpus}) WHERE e.name >= '' } AS entities,
       sharedEntityEdges
