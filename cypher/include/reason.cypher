// What the two passages of the edge `e` share. An expression.
CASE type(e)
  WHEN 'SHARES_KEYWORD' THEN apoc.text.join(e.keywords[..3], ', ')
  WHEN 'SHARES_ENTITY' THEN apoc.text.join(e.entities[..3], ', ')
  WHEN 'NEXT' THEN 'next in the document'
  ELSE 'cosine ' + toString(round(2 * e.score - 1, 2)) END
