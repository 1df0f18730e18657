// The passages of the corpus $corpus, or those of the ids $rows where these are given. Leaves each as `p`, and
// its document as `d`.
CALL () {
  WITH $rows AS given WHERE given IS NULL
  MATCH (d:Document {corpus: $corpus})-[:HAS_PASSAGE]->(p:Passage)
  RETURN d, p
  UNION ALL
  UNWIND $rows AS id
  MATCH (p:Passage {id: id})<-[:HAS_PASSAGE]-(d:Document)
  WHERE p.corpus = $corpus
  RETURN d, p
}
