// load.documents(corpus :: STRING, scope :: STRING, rows :: LIST OF MAP) :: (id :: STRING, passages :: INT, characters :: INT)
// Writes documents with their passages: each row has the properties of both. What a document had
// before and has no longer goes, with all its edges. Returns what is stored now.
// mode: WRITE
MERGE (c:Corpus {name: $corpus})
  ON CREATE SET c.scope = $scope, c.createdAt = datetime()
WITH c
UNWIND $rows AS row
MERGE (d:Document {id: row.id})
SET d.corpus = c.name, d.title = row.title, d.source = row.source, d.key = row.key,
    d.sha256 = row.sha256, d.fingerprint = row.fingerprint, d.characters = row.characters,
    d.loadedAt = datetime()
WITH c, d, row
// A passage of the same id has the same text; one under a new title is made anew all the same,
// since keywords and embeddings are made of the title too.
CALL (d, row) {
  MATCH (d)-[:HAS_PASSAGE]->(old:Passage)
  WHERE old.position >= size(row.passages)
     OR row.passages[old.position].id <> old.id
     OR row.passages[old.position].title <> old.title
  WITH collect(old) AS gone
  CALL (gone) {
    UNWIND gone AS p
    MATCH (p)-[:HAS_KEYWORD]->(k:Keyword)
    WITH k, count(*) AS lost
    SET k.documentFrequency = k.documentFrequency - lost
    WITH k, lost
    WHERE COUNT { (k)<-[:HAS_KEYWORD]-() } = lost
    DETACH DELETE k
  }
  CALL (gone) {
    UNWIND gone AS p
    MATCH (p)-[:MENTIONS]->(e:Entity)
    WITH e, count(*) AS lost
    WHERE COUNT { (e)<-[:MENTIONS]-() } = lost
    DETACH DELETE e
  }
  FOREACH (p IN gone | DETACH DELETE p)
}
CALL (c, d, row) {
  UNWIND row.passages AS new
  MERGE (p:Passage {id: new.id})
  SET p.corpus = c.name, p.scope = c.scope, p.document = d.id, p.title = new.title,
      p.text = new.text, p.position = new.position, p.start = new.start, p.end = new.end
  MERGE (d)-[:HAS_PASSAGE]->(p)
  WITH p ORDER BY p.position
  WITH collect(p) AS made, count(p) AS passages, sum(size(p.text)) AS characters
  FOREACH (i IN range(1, size(made) - 1) |
    FOREACH (a IN [made[i - 1]] | FOREACH (b IN [made[i]] | MERGE (a)-[:NEXT]->(b))))
  RETURN passages, characters
}
RETURN d.id AS id, passages, characters
