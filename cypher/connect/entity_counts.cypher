// connect.entityCounts(corpus :: STRING) :: (mentions :: INT, entities :: INT)
// How many mentions a corpus has, and how many entities that no document is about.
// mode: READ
OPTIONAL MATCH (p:Passage {corpus: $corpus})
WITH sum(COUNT { (p)-[:MENTIONS]->() }) AS mentions
RETURN mentions, COUNT { MATCH (:NamedEntity {corpus: $corpus}) } AS entities
