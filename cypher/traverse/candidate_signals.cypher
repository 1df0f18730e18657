// traverse.candidateSignals(frontier :: LIST OF STRING, others :: LIST OF STRING, corpus :: STRING, vector :: LIST OF FLOAT, words :: LIST OF STRING, phrases = [] :: LIST OF STRING, named = [] :: LIST OF STRING, hits = {} :: MAP, edges = [] :: LIST OF STRING, inbound = 30 :: INT, sharing = 12 :: INT, hub = 500 :: INT, judged = 150 :: INT) :: (passage :: STRING, cosine :: FLOAT, length :: INT, outDegree :: INT, inDegree :: INT, covered :: LIST OF INT, titled :: LIST OF INT, titleLength :: INT, links :: LIST OF ANY)
// One hop for the learned agent, for the whole beam: the passages one edge away from `frontier`, with
// `frontier` itself and `others`, and the signals that speak for each. `covered` are the places of the
// `words` that its title or text holds, `titled` those in its title alone, `outDegree` how many entities
// it mentions, `inDegree` how many passages mention its document. A link is [kind, place in the frontier, weight]: 0 the passage of the
// frontier names its title, 1 the other way round, 2 they share entities or keywords, 3 they mean
// nearly the same, 4 they are next to each other, 5 they share an entity that the question does not
// name, weighed by its rarity from 0 to 1; 6 it mentions one of `phrases` (the question's n-grams) or
// a document of the passages `named`, weighed likewise. An entity of over 100 passages links none. Of
// many passages that name one title only `inbound` are taken, those with the best `hits` (BM25 by
// passage), and of many that share something the `sharing` weightiest. Where more than `hub` edges of
// what is shared lead to a passage, only those from the best 100 `hits` are read, so that a question
// takes no longer for its fame. Beside `frontier` and `others` those passages are returned to which the
// most and strongest links lead from its best, `judged` in all, so that a hop takes no longer in a denser
// graph.
// mode: READ
MATCH (c:Corpus {name: $corpus})
WITH $edges AS chosen
CALL () {
  UNWIND $frontier AS id
  MATCH (p:Passage {id: id})
  WHERE COUNT { (p)<-[:SHARES_ENTITY|SHARES_KEYWORD]-() } > $hub
  RETURN collect(DISTINCT p) AS hubs
}
// Each of the best hits once, for all hubs.
CALL (hubs) {
  UNWIND CASE hubs WHEN [] THEN [] ELSE keys($hits) END AS id
  WITH hubs, id
  ORDER BY $hits[id] DESC, id
  LIMIT 100
  MATCH (n:Passage {id: id})-[e:SHARES_ENTITY|SHARES_KEYWORD]->(p)
  WHERE p IN hubs
  RETURN collect(e) AS led
}
CALL (chosen, hubs, led) {
  UNWIND $others AS id
  MATCH (n:Passage {id: id})
  RETURN n, null AS link
  UNION ALL
  UNWIND range(0, size($frontier) - 1) AS at
  MATCH (n:Passage {id: $frontier[at]})
  RETURN n, null AS link
  UNION ALL
  WITH chosen
  UNWIND range(0, size($frontier) - 1) AS at
  MATCH (:Passage {id: $frontier[at]})-[e:SHARES_ENTITY|SHARES_KEYWORD {namesTitle: true}]->(n:Passage)
  WHERE size(chosen) = 0 OR type(e) IN chosen
  RETURN n, [0.0, at, e.weight] AS link
  UNION ALL
  WITH chosen, hubs, led
  UNWIND range(0, size($frontier) - 1) AS at
  MATCH (p:Passage {id: $frontier[at]})
  WITH at, chosen, led, p, p IN hubs AS isHub
  CALL (p, chosen, isHub, led) {
    CALL (p, isHub, led) {
      WITH isHub
      WHERE NOT isHub
      MATCH (n:Passage)-[e:SHARES_ENTITY|SHARES_KEYWORD {namesTitle: true}]->(p)
      RETURN n, e
      UNION ALL
      UNWIND [e IN led WHERE endNode(e) = p AND e.namesTitle] AS e
      RETURN startNode(e) AS n, e
    }
    WITH n, e
    WHERE size(chosen) = 0 OR type(e) IN chosen
    WITH n, max(e.weight) AS weight
    ORDER BY coalesce($hits[n.id], 0.0) DESC, weight DESC, n.id
    LIMIT $inbound
    RETURN n, weight
  }
  RETURN n, [1.0, at, weight] AS link
  UNION ALL
  WITH chosen, hubs, led
  UNWIND range(0, size($frontier) - 1) AS at
  MATCH (p:Passage {id: $frontier[at]})
  WITH at, chosen, led, p, p IN hubs AS isHub
  CALL (p, chosen, isHub, led) {
    CALL (p, isHub, led) {
      MATCH (p)-[e:SHARES_ENTITY|SHARES_KEYWORD {namesTitle: false}]->(n:Passage)
      RETURN n, e
      UNION ALL
      WITH isHub
      WHERE NOT isHub
      MATCH (n:Passage)-[e:SHARES_ENTITY|SHARES_KEYWORD {namesTitle: false}]->(p)
      RETURN n, e
      UNION ALL
      UNWIND [e IN led WHERE endNode(e) = p AND NOT e.namesTitle] AS e
      RETURN startNode(e) AS n, e
    }
    WITH n, e
    WHERE size(chosen) = 0 OR type(e) IN chosen
    WITH n, max(e.weight) AS weight
    ORDER BY weight DESC, n.id
    LIMIT $sharing
    RETURN n, weight
  }
  RETURN n, [2.0, at, weight] AS link
  UNION ALL
  WITH chosen
  UNWIND range(0, size($frontier) - 1) AS at
  // The nearest of a passage, not those that have it among their nearest: a hub would have many.
  MATCH (:Passage {id: $frontier[at]})-[e:SIMILAR_ST|SIMILAR_MDR]->(n:Passage)
  WHERE size(chosen) = 0 OR type(e) IN chosen
  RETURN n, [3.0, at, e.score] AS link
  UNION ALL
  WITH chosen
  UNWIND range(0, size($frontier) - 1) AS at
  MATCH (:Passage {id: $frontier[at]})-[e:NEXT]-(n:Passage)
  WHERE size(chosen) = 0 OR type(e) IN chosen
  RETURN n, [4.0, at, 1.0] AS link
}
WITH n, collect(link) AS links, count(*) > count(link) AS given
WITH n, links, given,
     reduce(sum = coalesce($hits[n.id], 0.0), link IN links
       | sum + CASE WHEN link[0] < 2.0 THEN 1.0 ELSE 0.5 END / (2.0 + link[1])) AS strength
ORDER BY given DESC, strength DESC, n.id
LIMIT $judged
WITH collect({passage: n, links: links}) AS judged, log(1001.0) AS most
CALL (most) {
  CALL () {
    UNWIND $phrases AS name
    MATCH (e:NamedEntity {corpus: $corpus, name: name})
    RETURN e
    UNION
    UNWIND $named AS id
    MATCH (:Passage {id: id})<-[:HAS_PASSAGE]-(e:Document)
    RETURN e
  }
  WITH e, most, COUNT { (e)<-[:MENTIONS]-() } AS frequency
  WHERE frequency <= 100
  RETURN collect({entity: e, links: [[6.0, 0, 1.0 - log(1.0 + frequency) / most]]}) AS asked,
         collect(e) AS named
}
// By entity: the links that a passage has that mentions it. What is asked about is no bridge.
CALL (most, named) {
  UNWIND range(0, size($frontier) - 1) AS at
  MATCH (:Passage {id: $frontier[at]})-[:MENTIONS]->(e)
  WITH e, most, collect(at) AS places, COUNT { (e)<-[:MENTIONS]-() } AS frequency
  WHERE 2 <= frequency <= 100 AND NOT e IN named
  RETURN collect({entity: e,
    links: [at IN places | [5.0, at, 1.0 - log(1.0 + frequency) / most]]}) AS bridges
}
WITH judged, bridges + asked AS linking
// As rows, what is judged and what an entity links come together by the passage.
CALL (judged, linking) {
  UNWIND judged AS one
  RETURN one.passage AS n, one.links AS links, true AS isJudged
  UNION ALL
  UNWIND linking AS one
  WITH one.entity AS e, one.links AS links
  MATCH (e)<-[:MENTIONS]-(n)
  RETURN n, links, false AS isJudged
}
WITH n, collect(links) AS parts, max(isJudged) AS isJudged
WHERE isJudged
WITH n, [link IN reduce(all = [], part IN parts | all + part)
         WHERE link[0] <> 5.0 OR $frontier[link[1]] <> n.id] AS links
MATCH (n)<-[:HAS_PASSAGE]-(d:Document)
WITH n, links, n.id AS passage, toLower(n.title) AS title, toLower(n.title + ' ' + n.text) AS text,
     COUNT { (d)<-[:MENTIONS]-() } AS inDegree
// A passage deleted since it was found has no properties any longer.
WHERE passage IS NOT NULL AND text IS NOT NULL
RETURN passage,
       CASE WHEN size($vector) = 0 OR n.embedding IS NULL THEN null
            ELSE 2 * vector.similarity.cosine(n.embedding, $vector) - 1 END AS cosine,
       size(text) AS length,
       COUNT { (n)-[:MENTIONS]->() } AS outDegree,
       inDegree,
       [at IN range(0, size($words) - 1) WHERE text CONTAINS $words[at]] AS covered,
       [at IN range(0, size($words) - 1) WHERE title CONTAINS $words[at]] AS titled,
       size(title) AS titleLength,
       links
ORDER BY passage
