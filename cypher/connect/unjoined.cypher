// connect.unjoined(corpus :: STRING, least :: INT, property = 'embedding' :: STRING, type = 'SIMILAR_ST' :: STRING) :: (node :: STRING)
// The passages of a corpus with an embedding (`property`) from which fewer than `least` edges of a type go out:
// new ones, and those that lost a neighbour.
// mode: READ
MATCH (p:Passage {corpus: $corpus})
WHERE p[$property] IS NOT NULL AND COUNT { (p)-[:$($type)]->() } < $least
RETURN elementId(p) AS node
