// What the two passages of the edge `e` share, '' where the edge is deleted meanwhile. An expression.
coalesce(CASE type(e)
  WHEN 'SHARES_KEYWORD' THEN substring(reduce(all = '', one IN e.keywords[..3] | all + ', ' + one), 2)
  WHEN 'SHARES_ENTITY' THEN substring(reduce(all = '', one IN e.entities[..3] | all + ', ' + one), 2)
  WHEN 'NEXT' THEN 'next in the document'
  ELSE 'cosine ' + toString(round(2 * e.score - 1, 2)) END, '')
