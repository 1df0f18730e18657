// trace.store(corpus :: STRING, question :: MAP, visits :: LIST OF MAP) :: (id :: STRING, visited :: INT)
// Stores a question with the passages visited for it. Each visit has the id of its passage, and the type
// and the properties of the relationship; a passage that is gone already is left out.
// mode: WRITE
MATCH (c:Corpus {name: $corpus})
CREATE (q:Question)
SET q = $question, q.corpus = c.name, q.askedAt = datetime()
WITH c, q
CALL (c, q) {
  UNWIND $visits AS visit
  MATCH (p:Passage {id: visit.passage})
  WHERE p.corpus = c.name
  CREATE (q)-[v:$(visit.type)]->(p)
  SET v = visit.properties
  RETURN count(v) AS visited
}
RETURN q.id AS id, visited
