// traverse.hybridSeeds(question :: STRING, vector :: LIST OF FLOAT, corpus :: STRING, limit = TraversalSettings.budget :: INT, named = TraversalSettings.named :: FLOAT) :: (passage :: NODE, fused :: FLOAT, score :: FLOAT, reason :: STRING)
// Starting passages by reciprocal rank fusion of full text, vector (unless it is empty) and titles that
// the question names (unless `named` is 0), best first. `score` is on the agents' scale: cosine, a
// share of the relative BM25, and `named` for a passage whose title is named.
// mode: READ
MATCH (c:Corpus {name: $corpus})
WITH c, $question AS text, $vector AS vector, $limit AS limit, $named AS named
// include: fused
RETURN passage, fused, score, reason
ORDER BY fused DESC, passage.id
