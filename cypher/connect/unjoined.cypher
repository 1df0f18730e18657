// connect.unjoined(corpus :: STRING, least :: INT) :: (node :: STRING)
// The passages of a corpus from which fewer than `least` similarity edges go out: new ones, and those
// that lost a neighbour.
// mode: READ
MATCH (p:Passage {corpus: $corpus})
WHERE p.embedding IS NOT NULL AND COUNT { (p)-[:SIMILAR_ST]->() } < $least
RETURN elementId(p) AS node
