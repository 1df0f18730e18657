// Deletes the passages `gone` of one document, with the keywords and entities that no other passage has; a
// keyword that is no document's title any longer is no longer `named`. Within `CALL (..) { ... }`.
CALL (gone) {
  UNWIND gone AS p
  MATCH (p)-[h:HAS_KEYWORD]->(k:Keyword)
  WITH gone, k, count(*) AS lost, max(h.owned) AS owned
  SET k.documentFrequency = k.documentFrequency - lost,
      k.named = CASE WHEN owned THEN EXISTS {
        (k)<-[:HAS_KEYWORD {owned: true}]-(q:Passage) WHERE NOT q IN gone
      } ELSE k.named END
  WITH k, lost
  WHERE COUNT { (k)<-[:HAS_KEYWORD]-() } = lost
  DETACH DELETE k
}
CALL (gone) {
  UNWIND gone AS p
  MATCH (p)-[:MENTIONS]->(e:NamedEntity)
  WITH e, count(*) AS lost
  WHERE COUNT { (e)<-[:MENTIONS]-() } = lost
  DETACH DELETE e
}
FOREACH (p IN gone | DETACH DELETE p)
