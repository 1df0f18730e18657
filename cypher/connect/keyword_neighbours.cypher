// connect.keywordNeighbours(corpus :: STRING, rows :: LIST OF STRING, maxFrequency :: INT, neighbours :: INT, mostOwners :: INT) :: (first :: STRING, second :: STRING, count :: INT, weight :: FLOAT, items :: LIST OF STRING, namesTitle :: BOOLEAN, chosen :: BOOLEAN)
// The edges by keywords that there should be from and to some passages (by node): those of which the first names
// the title of the second's document; and each passage's first with those that share most with it (`chosen`) or
// that have it among theirs. The 200 that share most with a passage are looked at.
// mode: READ
// Who owns each title that they have, once for all of them: a title may be named in a tenth of the corpus.
CALL () {
  UNWIND $rows AS row
  MATCH (p:Passage)-[:HAS_KEYWORD]->(k:Keyword {named: true}) WHERE elementId(p) = row AND p.corpus = $corpus
  WITH DISTINCT k
  WITH k, COLLECT { MATCH (k)<-[o:HAS_KEYWORD {owned: true}]-(q:Passage) RETURN [q, o.tfidf] } AS owners
  WHERE size(owners) <= $mostOwners
  RETURN apoc.map.fromPairs(collect([elementId(k), owners])) AS owners
}
UNWIND $rows AS row
MATCH (p:Passage) WHERE elementId(p) = row AND p.corpus = $corpus
CALL (p, owners) {
  CALL (p, owners) {
    MATCH (p)-[h:HAS_KEYWORD {owned: false}]->(k:Keyword {named: true})
    UNWIND owners[elementId(k)] AS owner
    RETURN p AS first, owner[0] AS second, k, h.tfidf AS naming, owner[1] AS named
    UNION ALL
    MATCH (p)-[o:HAS_KEYWORD {owned: true}]->(k:Keyword)
    WHERE owners[elementId(k)] IS NOT NULL
    MATCH (first:Passage)-[h:HAS_KEYWORD {owned: false}]->(k)
    RETURN first, p AS second, k, h.tfidf AS naming, o.tfidf AS named
  }
  WITH first, second, k, naming, named ORDER BY naming DESC, k.text
  RETURN first, second, sum(naming * named) AS weight, count(*) AS count, collect(k.text)[..5] AS items,
         true AS namesTitle, true AS chosen
  UNION ALL
  MATCH (p)-[h:HAS_KEYWORD]->(k:Keyword) WHERE k.documentFrequency <= $maxFrequency
  MATCH (k)<-[o:HAS_KEYWORD]-(q:Passage) WHERE q <> p
  WITH p, q, k, h, o ORDER BY h.tfidf DESC, k.text
  WITH p, q, round(sum(h.tfidf * o.tfidf), 9) AS weight, count(*) AS count, collect(k.text)[..5] AS items
  ORDER BY weight DESC, q.id LIMIT 200
  WITH p, collect({q: q, weight: weight, count: count, items: items}) AS pairs
  UNWIND range(1, size(pairs)) AS place
  WITH p, pairs[place - 1] AS pair, place <= $neighbours AS chosen
  WITH p, pair, pair.q AS q, chosen
  WHERE chosen OR COUNT {
    MATCH (q)-[h:HAS_KEYWORD]->(k:Keyword) WHERE k.documentFrequency <= $maxFrequency
    MATCH (k)<-[o:HAS_KEYWORD]-(r:Passage) WHERE NOT r IN [p, q]
    WITH r, round(sum(h.tfidf * o.tfidf), 9) AS weight
    WHERE weight > pair.weight OR (weight = pair.weight AND r.id < p.id)
    RETURN r
  } < $neighbours
  RETURN p AS first, q AS second, pair.weight AS weight, pair.count AS count, pair.items AS items,
         false AS namesTitle, chosen
}
RETURN elementId(first) AS first, elementId(second) AS second, count, weight, items, namesTitle, chosen
