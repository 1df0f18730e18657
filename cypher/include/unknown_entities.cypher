// Those of `entities`, ids or names, that the knowledge graph `g` does not have, as `names`; no row where
// it has all.
UNWIND entities AS named
// include: entity
WITH named WHERE e IS NULL
WITH collect(toString(named)) AS names
WHERE size(names) > 0
