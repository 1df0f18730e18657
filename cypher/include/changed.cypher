// Within a statement that changes the documents of the corpus c: its keyword and entity graph are no longer
// made of what is there. Only where it changes: what is set is locked, and several write side by side.
FOREACH (_ IN CASE WHEN coalesce(c.keywordsOf, c.entitiesOf) IS NULL THEN [] ELSE [1] END |
  SET c.keywordsOf = null, c.entitiesOf = null)
