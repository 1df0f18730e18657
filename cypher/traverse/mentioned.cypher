// traverse.mentioned(corpus :: STRING, queries :: LIST OF STRING, limit = 8 :: INT) :: (id :: STRING, document :: STRING, title :: STRING, apart :: STRING, position :: INT, start :: INT, end :: INT, text :: STRING, source :: STRING, page :: INT, section :: STRING, recognised :: BOOLEAN, columns :: LIST OF STRING)
// The best passages of a corpus for each query of its full-text index, in Lucene's syntax, all at once:
// what has the names and numbers of a question, or words spelled nearly so.
// mode: READ
MATCH (c:Corpus {name: $corpus})
UNWIND $queries AS query
CALL (c, query) {
  CALL db.index.fulltext.queryNodes('kgp_passage_' + c.shelf,
    CASE c.shelf WHEN c.scope THEN '' ELSE '+scope:' + c.scope + '^0 ' END + query, {limit: $limit})
  YIELD node
  RETURN node
}
WITH DISTINCT node AS p
MATCH (d:Document)-[:HAS_PASSAGE]->(p)
// include: passage
