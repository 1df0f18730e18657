"""A graph of six passages whose every row can be written down: two hops from a lighthouse.

a1 Ardfin Lighthouse --isobel tarn--> b1 Isobel Tarn --kettlehaven--> c1 Kettlehaven
a1 --next--> a2                       c1 --harbour--> d1 York,  e1 New York stands alone
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graphs import rows

from kgp_neo4j.corpus.answer.traces import store
from kgp_neo4j.corpus.load.ids import corpus_scope
from kgp_neo4j.corpus.traverse.algorithm import read_passages
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import Answer, ReasoningPath, Step, SupportingSentence

#: Document, its title, and its passages: name, text, embedding.
PASSAGES: dict[str, tuple[str, dict[str, tuple[str, list[float] | None]]]] = {
    "a": (
        "Ardfin Lighthouse",
        {
            "a1": ("The light was designed by Isobel Tarn.", [1.0, 0.0]),
            "a2": ("It has run without a crew since 1988.", [0.8, 0.6]),
        },
    ),
    "b": ("Isobel Tarn", {"b1": ("She was born in Kettlehaven.", [0.6, 0.8])}),
    "c": ("Kettlehaven", {"c1": ("A harbour on the north coast.", [0.0, 1.0])}),
    "d": ("York", {"d1": ("It has a harbour too.", [-1.0, 0.0])}),
    "e": ("New York", {"e1": ("It has a statue.", None)}),
}
#: Keyword, whether it is a title, and the passages that have it (* marks the title's own).
_KEYWORDS = [
    ("ardfin lighthouse", True, ["a1*"]),
    ("isobel tarn", True, ["b1*", "a1"]),
    ("kettlehaven", True, ["c1*", "b1"]),
    ("york", True, ["d1*"]),
    ("new york", True, ["e1*"]),
    ("harbour", False, ["c1", "d1"]),
]
#: From, to, type and properties.
_EDGES = [
    [a, b, "SHARES_KEYWORD", {"count": 1, "weight": w, "keywords": [word], "namesTitle": names}]
    for a, b, w, word, names in (
        ("a1", "b1", 0.5, "isobel tarn", True),
        ("b1", "c1", 0.4, "kettlehaven", True),
        ("c1", "d1", 0.3, "harbour", False),
    )
]
# a1 and a2 are each other's nearest, so that they are joined both ways.
for _a, _b, _score in (("a1", "a2", 0.9), ("a2", "a1", 0.9), ("b1", "a2", 0.98)):
    _EDGES.append([_a, _b, "SIMILAR_ST", {"score": _score}])


def key(corpus: str, *names: str) -> list[str]:
    """Return the ids of passages (`a1`) or documents (`a`)."""
    return [f"{corpus}/{name}" for name in names]


def short(id_: str) -> str:
    """Return the name behind an id."""
    return id_.rsplit("/", 1)[-1]


def passages(database: Database, corpus: str) -> str:
    """Store the six passages with their documents, and nothing else; return the corpus."""
    made = [
        document(corpus, name, title, {passage: text for passage, (text, _) in texts.items()})
        for name, (title, texts) in PASSAGES.items()
    ]
    database.write("load/documents", corpus=corpus, scope=corpus_scope(corpus), rows=made)
    return corpus


def keywords(database: Database, corpus: str) -> None:
    """Add the keywords and their links; every weight is 0.5."""
    rows(
        database,
        """
        UNWIND $rows AS row
        MERGE (k:Keyword {corpus: $c, text: row.text})
        SET k.title = row.text, k.named = row.named, k.documentFrequency = size(row.links)
        WITH k, row UNWIND row.links AS link
        MATCH (p:Passage {id: link.passage})
        CREATE (p)-[:HAS_KEYWORD {tfidf: 0.5, owned: link.owned}]->(k)
        """,
        c=corpus,
        rows=[
            {
                "text": text,
                "named": named,
                "links": [
                    {"passage": f"{corpus}/{n.rstrip('*')}", "owned": n.endswith("*")}
                    for n in names
                ],
            }
            for text, named, names in _KEYWORDS
        ],
    )


def lighthouse(database: Database, corpus: str) -> str:
    """Store everything: passages, keywords, embeddings and all three kinds of edges."""
    passages(database, corpus)
    keywords(database, corpus)
    database.write(
        "connect/embeddings",
        rows=[
            {"id": f"{corpus}/{name}", "vector": vector}
            for _, texts in PASSAGES.values()
            for name, (_, vector) in texts.items()
            if vector
        ],
    )
    rows(
        database,
        """
        UNWIND $rows AS row
        MATCH (a:Passage {id: $c + '/' + row[0]}), (b:Passage {id: $c + '/' + row[1]})
        CREATE (a)-[e:$(row[2])]->(b) SET e = row[3]
        """,
        c=corpus,
        rows=_EDGES,
    )
    return corpus


def edges(database: Database, corpus: str, kind: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the edges of one type between a corpus's passages, with their properties."""
    found = rows(
        database,
        "MATCH (a:Passage {corpus: $c})-[e]->(b:Passage) WHERE type(e) = $kind "
        "RETURN a.id AS a, b.id AS b, properties(e) AS e ORDER BY a, b, e.namesTitle",
        c=corpus,
        kind=kind,
    )
    return [(short(row["a"]), short(row["b"]), row["e"]) for row in found]


def keep_one(database: Database, corpus: str) -> str:
    """Keep a traversal of two passages that are joined, or of one, and return its id.

    The answer rests on the way to both; the first one was found a second time.
    """
    found = rows(
        database,
        "MATCH (a:Passage {corpus: $c}) OPTIONAL MATCH (a)-[:SHARES_KEYWORD]-(b) "
        "WITH a, b ORDER BY b IS NULL, a.id, b.id LIMIT 1 RETURN a.id AS first, b.id AS second",
        c=corpus,
    )
    first, *rest = [passage for passage in found[0].values() if passage]
    steps = [Step(first, "seed", 0.5, reason="words", judged=0.9)]
    steps += [Step(passage, "SHARES_KEYWORD", 0.5, judged=0.8) for passage in rest]
    paths = ReasoningPath(tuple(steps)), ReasoningPath((replace(steps[0], judged=0.3),))
    last = paths[0].last
    passages = tuple(read_passages(database, [last, first]).values())
    said = (SupportingSentence("It.", last, 0, 3, 0.5),)
    made = Answer("Who?", corpus, "learned", "It", said, passages, paths, 0.1)
    return store(database, made)


def document(corpus: str, name: str, title: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return a document as it is stored, with the texts of its passages by their names."""
    start, stored = 0, []
    for position, (passage, text) in enumerate(texts.items()):
        stored.append(
            {
                "id": f"{corpus}/{passage}",
                "title": title if len(texts) == 1 else f"{title} #{position + 1}",
                "text": text,
                "position": position,
                "start": start,
                "end": start + len(text),
            }
        )
        start += len(text)
    return {
        "id": f"{corpus}/{name}",
        "title": title,
        "source": f"/{name}.txt",
        "key": "",
        "sha256": "s",
        "fingerprint": "f",
        "characters": start,
        "passages": stored,
    }


#: Passages that name one another's titles.
FILMS = (
    ("Ed Wood (film)", "Ed Wood is a comedy directed by Tim Burton about a cult film maker."),
    ("Tim Burton", "Tim Burton is a director, known for gothic comedy and Ed Wood."),
    ("Burbank", "Burbank is a city in California; Tim Burton was born in Burbank, California."),
    ("Cult film", "A cult film has a devoted audience. A gothic comedy may become one."),
    ("It", "It is a novel by an author from Maine. It was filmed twice."),
)
