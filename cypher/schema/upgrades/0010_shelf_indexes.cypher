// upgrade.0010ShelfIndexes() :: (changed :: INT)
// Makes the indexes of each large corpus, and drops those that served all corpora.
// mode: WRITE
CALL () {
  UNWIND ['kgp_passage_text', 'kgp_passage_embedding', 'kgp_passage_mdr_embedding'] AS old
  CALL (old) {
    CALL apoc.cypher.runSchema('DROP INDEX ' + old + ' IF EXISTS', {}) YIELD value
    RETURN count(*) AS made
  }
  RETURN count(*) AS dropped
}
MATCH (c:Corpus) WHERE c.shelf = c.scope
// include: own_shelf
RETURN count(*) AS changed
