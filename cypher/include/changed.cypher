// Within a statement that changes the documents of the corpus c: its keyword and entity graph are no longer
// made of what is there. Only where it changes: what is set is locked, and several write side by side.
WITH *
CALL (c) {
  MATCH (c)-[:HAS_GRAPH]->(g:Graph) WHERE g.madeOf IS NOT NULL OR g.run IS NOT NULL
  REMOVE g.madeOf, g.run
}
