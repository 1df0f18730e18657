// check.edges(configuration :: MAP) :: (wrong :: STRING)
// Says which types of `edges` are none between passages, if any, and which there are.
// mode: READ
WITH ['SHARES_KEYWORD', 'SHARES_ENTITY', 'SIMILAR_ST', 'SIMILAR_MDR', 'NEXT'] AS types
WITH types, [type IN coalesce($configuration['edges'], []) WHERE NOT type IN types] AS names
WHERE size(names) > 0
WITH types,
  // include: listed
  AS unknown
WITH types AS names, unknown
RETURN 'there is no edge type ' + unknown + ' (there are: ' +
  // include: listed
  + ')' AS wrong
