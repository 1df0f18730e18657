// What questions need to know of a knowledge graph `g`, in front of it. Leaves `relations`, its
// relationship types, and `names`, a sample of its names, some for each first letter.
CALL (g) {
  MATCH (e:Entity {graph: g.name})-[r]->()
  WHERE e.key IS NOT NULL AND r.graph = g.name
  WITH DISTINCT type(r) AS relation ORDER BY relation
  RETURN collect(relation) AS relations
}
CALL (g) {
  UNWIND split('0 2 a b c d e f g h i j k l m n o p q r s t u v w y z', ' ') AS letter
  CALL (g, letter) {
    MATCH (e:Entity {graph: g.name}) WHERE e.key >= letter
    RETURN e.name AS name LIMIT 4
  }
  RETURN collect(DISTINCT name) AS names
}
