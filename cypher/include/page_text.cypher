// Leaves the whole text of the page `p`, that of its passages, as `text`.
CALL (p) {
  OPTIONAL MATCH (p)-[:HAS_PASSAGE]->(passage:Passage)
  WITH passage ORDER BY passage.position
  RETURN reduce(text = '', part IN collect(passage.text) | text + part) AS text
}
