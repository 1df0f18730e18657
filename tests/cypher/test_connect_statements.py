"""Every statement of cypher/connect on a graph of six passages."""

from __future__ import annotations

import math
import operator
from typing import Any

import pytest
from graphs import rows
from small_graphs import PASSAGES, edges, keywords, lighthouse, passages, short

from kgp_neo4j.graphdb.database import Database


def _shared(database: Database, corpus: str) -> list[tuple[str, str, int, float, list[str], bool]]:
    return [
        (a, b, e["count"], e["weight"], sorted(e["keywords"]), e["namesTitle"])
        for a, b, e in edges(database, corpus, "SHARES_KEYWORD")
    ]


def _state(database: Database, corpus: str) -> dict[str, Any]:
    return database.read("inspect/corpus", corpus=corpus)[0]


def test_begin_and_finish(database: Database, corpus: str) -> None:
    passages(database, corpus)
    for graph in ("keywords", "similarity"):
        done = database.write("connect/finish", corpus=corpus, graph=graph, settings=f"of {graph}")
        assert done == [{"corpus": corpus}]
    assert _state(database, corpus)["connected"] == ["keywords", "similarity"]
    query = "MATCH (c:Corpus {name: $c}) RETURN c.keywordSettings AS k, c.similaritySettings AS s"
    assert rows(database, query, c=corpus) == [{"k": "of keywords", "s": "of similarity"}]
    done = database.write("connect/begin", corpus=corpus, graph="keywords")
    assert done == [{"corpus": corpus}]
    assert _state(database, corpus)["connected"] == ["similarity"]
    assert database.write("connect/begin", corpus="no such", graph="keywords") == []
    assert database.write("connect/finish", corpus="no such", graph="g", settings="") == []


def test_encoder(database: Database, corpus: str) -> None:
    passages(database, corpus)
    first = database.write("connect/encoder", corpus=corpus, encoder="e", dimension=2)
    assert first == [{"encoder": "e", "dimension": 2}]
    second = database.write("connect/encoder", corpus=corpus, encoder="other", dimension=3)
    assert second == first
    assert database.write("connect/encoder", corpus="no such", encoder="e", dimension=2) == []


def _nodes(database: Database, corpus: str) -> dict[str, int]:
    return {
        short(row["id"]): row["node"] for row in database.read("connect/passages", corpus=corpus)
    }


def test_passages(database: Database, corpus: str) -> None:
    passages(database, corpus)
    found = database.read("connect/passages", corpus=corpus)
    assert [row["node"] for row in found] == sorted(row["node"] for row in found)
    assert sorted((short(row["id"]), row["title"], row["text"]) for row in found) == sorted(
        (name, title if position == 0 else "", text)
        for title, texts in PASSAGES.values()
        for position, (name, (text, _)) in enumerate(texts.items())
    )


def test_keywords_and_links(database: Database, corpus: str, other_corpus: str) -> None:
    passages(database, corpus)
    passages(database, other_corpus)
    nodes = _nodes(database, corpus)
    links = [[nodes["d1"], 0.6, False], [_nodes(database, other_corpus)["d1"], 0.6, False]]
    given = [
        {"text": "harbour", "frequency": 2, "named": False, "links": links},
        {
            "text": "york",
            "frequency": 2,
            "named": True,
            "links": [[nodes["d1"], 0.8, True], [nodes["c1"], 1.0, False]],
        },
    ]
    # A passage of another corpus is left alone.
    assert database.write("connect/keywords", corpus=corpus, rows=given) == [{"written": 3}]
    query = (
        "MATCH (p:Passage {corpus: $c})-[h:HAS_KEYWORD]->(k) "
        "RETURN p.id AS id, k.text AS text, h.tfidf AS tfidf, h.owned AS owned ORDER BY id, text"
    )
    found = rows(database, query, c=corpus)
    assert [(short(r["id"]), r["text"], r["tfidf"], r["owned"]) for r in found] == [
        ("c1", "york", 1.0, False),
        ("d1", "harbour", 0.6, False),
        ("d1", "york", 0.8, True),
    ]
    assert rows(database, query, c=other_corpus) == []
    again = [{**row, "frequency": 3, "links": []} for row in given]
    assert database.write("connect/keywords", corpus=corpus, rows=again) == [{"written": 0}]
    query = "MATCH (k:Keyword {corpus: $c}) RETURN properties(k) AS k ORDER BY k.text"
    assert [row["k"] for row in rows(database, query, c=corpus)] == [
        {"corpus": corpus, "text": t, "title": t, "documentFrequency": 3, "named": named}
        for t, named in (("harbour", False), ("york", True))
    ]


def test_connected(database: Database, corpus: str) -> None:
    passages(database, corpus)
    done = database.write("connect/connected", rows=[f"{corpus}/a1", f"{corpus}/none"])
    assert done == [{"written": 1}]
    query = "MATCH (p:Passage {corpus: $c, inKeywordGraph: true}) RETURN p.id AS id"
    assert rows(database, query, c=corpus) == [{"id": f"{corpus}/a1"}]


@pytest.mark.parametrize(
    ("path", "kind", "names"),
    [
        ("connect/shared_keywords", "SHARES_KEYWORD", "keywords"),
        ("connect/shared_entities", "SHARES_ENTITY", "entities"),
    ],
)
def test_shared_edges(
    database: Database, corpus: str, other_corpus: str, path: str, kind: str, names: str
) -> None:
    for name in (corpus, other_corpus):
        passages(database, name)
    nodes, others = _nodes(database, corpus), _nodes(database, other_corpus)
    given = [
        [nodes["a1"], nodes["b1"], 1, 0.25, ["tarn"]],
        [nodes["c1"], nodes["d1"], 7, 0.5, ["coast", "harbour"]],
        [nodes["e1"], others["a1"], 1, 0.5, ["coast"]],
    ]
    assert database.write(path, corpus=corpus, rows=given) == [{"written": 2}]
    made = [
        ("a1", "b1", {"count": 1, "weight": 0.25, names: ["tarn"], "namesTitle": False}),
        ("c1", "d1", {"count": 7, "weight": 0.5, names: ["coast", "harbour"], "namesTitle": False}),
    ]
    assert edges(database, corpus, kind) == made
    # Those that are joined are not joined again, in either direction.
    again = [[b, a, *rest] for a, b, *rest in given[:2]]
    assert database.write(path, corpus=corpus, rows=again) == [{"written": 0}]
    assert edges(database, corpus, kind) == made


def test_title_edges(database: Database, corpus: str) -> None:
    passages(database, corpus)
    keywords(database, corpus)
    assert database.write_in_batches("connect/title_edges", corpus=corpus) == {"made": 2}
    made = [
        ("a1", "b1", 1, 0.25, ["isobel tarn"], True),
        ("b1", "c1", 1, 0.25, ["kettlehaven"], True),
    ]
    assert _shared(database, corpus) == made


@pytest.mark.parametrize(
    ("path", "kind", "count"),
    [
        ("connect/remove_shared_keywords", "SHARES_KEYWORD", 3),
        ("connect/remove_similar", "SIMILAR_ST", 3),
    ],
)
def test_edges_are_removed(
    database: Database, corpus: str, other_corpus: str, path: str, kind: str, count: int
) -> None:
    lighthouse(database, corpus)
    lighthouse(database, other_corpus)
    assert database.write_in_batches(path, corpus=corpus, batch=1) == {"removed": count}
    assert edges(database, corpus, kind) == []
    assert len(edges(database, other_corpus, kind)) == count
    assert len(edges(database, corpus, "NEXT")) == 1
    assert database.write_in_batches(path, corpus=corpus)["removed"] in (0, None)


def test_remove_keywords(database: Database, corpus: str, other_corpus: str) -> None:
    lighthouse(database, corpus)
    lighthouse(database, other_corpus)
    done = database.write_in_batches("connect/remove_keywords", corpus=corpus, batch=2)
    assert done == {"removed": 6}
    query = "MATCH (k:Keyword {corpus: $c}) RETURN count(k) AS n"
    assert rows(database, query, c=corpus) == [{"n": 0}]
    assert rows(database, query, c=other_corpus) == [{"n": 6}]
    assert len(database.read("connect/passages", corpus=corpus)) == 6


def test_embeddings(database: Database, corpus: str) -> None:
    passages(database, corpus)
    given = [
        {"id": f"{corpus}/a1", "vector": [1.0, 0.0]},
        {"id": f"{corpus}/none", "vector": [1.0, 0.0]},
    ]
    assert database.write("connect/embeddings", rows=given) == [{"written": 1}]
    query = "MATCH (p:Passage {id: $c + '/a1'}) RETURN p.embedding AS v"
    assert rows(database, query, c=corpus) == [{"v": [1.0, 0.0]}]


def test_unembedded(database: Database, corpus: str) -> None:
    lighthouse(database, corpus)
    found = database.read("connect/unembedded", corpus=corpus)
    assert found == [{"id": f"{corpus}/e1", "title": "New York", "text": "It has a statue."}]


def test_remove_embeddings(database: Database, corpus: str, other_corpus: str) -> None:
    lighthouse(database, corpus)
    lighthouse(database, other_corpus)
    database.write("connect/encoder", corpus=corpus, encoder="e", dimension=2)
    done = database.write_in_batches("connect/remove_embeddings", corpus=corpus, batch=4)
    assert done == {"removed": 6}
    assert len(database.read("connect/unembedded", corpus=corpus)) == 6
    assert len(database.read("connect/unembedded", corpus=other_corpus)) == 1
    state = _state(database, corpus)
    assert (state["encoder"], state["dimension"]) == (None, None)


def test_project_similar_and_drop(database: Database, corpus: str) -> None:
    lighthouse(database, corpus)
    database.write_in_batches("connect/remove_similar", corpus=corpus)
    graph = f"graph of {corpus}"
    assert database.read("connect/project", graph=graph, corpus=corpus) == [{"nodes": 5}]
    # With all others as neighbours the search is exact; d1 and a1 are opposites.
    made = database.write("connect/similar", graph=graph, neighbours=4)
    assert made[0]["edges"] == 20
    assert made[0]["seconds"] >= 0
    assert database.read("connect/drop", graph=graph) == [{"graph": graph}]
    assert database.read("connect/drop", graph=graph) == []
    vectors = {
        name: vector for _, texts in PASSAGES.values() for name, (_, vector) in texts.items()
    }
    found = edges(database, corpus, "SIMILAR_ST")
    assert [(a, b) for a, b, _ in found] == [
        (a, b) for a in vectors for b in vectors if a != b and vectors[a] and vectors[b]
    ]
    for a, b, e in found:
        cosine = sum(map(operator.mul, vectors[a], vectors[b]))
        assert math.isclose(e["score"], (1 + cosine) / 2, abs_tol=1e-6)


def test_project_without_embeddings(database: Database, corpus: str) -> None:
    passages(database, corpus)
    graph = f"graph of {corpus}"
    found = database.read("connect/project", graph=graph, corpus=corpus)
    database.read("connect/drop", graph=graph)
    assert found in ([], [{"nodes": 0}], [{"nodes": None}])


# --- Entities -------------------------------------------------------------------------------------


def _mentioned(document: str, score: float) -> dict[str, Any]:
    return {
        "surface": document,
        "start": 1,
        "end": 5,
        "commonness": 0.9,
        "coherence": 0.5,
        "score": score,
        "offsets": [1, 5, 7, 9],
    }


def _named(name: str) -> dict[str, Any]:
    places = {"surface": name.title(), "start": 0, "end": len(name), "offsets": [0, len(name)]}
    return {**places, "commonness": None, "coherence": None, "score": None}


def _mentions(database: Database, corpus: str) -> None:
    """Let a1 mention documents b and c, b1 c; a1, c1, d1 "moe", c1 and d1 "the harbour fair"."""
    passages(database, corpus)
    kinds = {"moe": "Phrase", "the harbour fair": "EVENT"}
    given = [{"name": n, "title": n.title(), "type": t} for n, t in kinds.items()]
    written = database.write("connect/entities", corpus=corpus, rows=given)
    assert database.write("connect/entities", corpus=corpus, rows=given) == written
    nodes = {row["name"]: row["node"] for row in written}
    nodes |= {
        short(row["document"]): row["documentNode"]
        for row in database.read("connect/entity_passages", corpus=corpus)
    }
    others = {"a1": ["moe"], "c1": ["moe", "the harbour fair"], "d1": ["moe", "the harbour fair"]}
    documents: dict[str, list[tuple[str, float]]] = {"a1": [("b", 0.8), ("c", 0.4)]}
    documents |= {"b1": [("c", 0.6)], "c1": [], "d1": [], "e1": []}
    given = [
        {
            "passage": f"{corpus}/{p}",
            "mentions": [
                *({"node": nodes[n], **_named(n)} for n in others.get(p, ())),
                *({"node": nodes[d], **_mentioned(d, s)} for d, s in found),
            ],
        }
        for p, found in documents.items()
    ]
    done = database.write("connect/mentions", corpus=corpus, rows=given, linker="titles")
    assert done == [{"written": 8}]
    # What is no longer there, or of another corpus, is passed over.
    assert database.write("connect/mentions", corpus="", rows=given, linker="titles") == [
        {"written": 0}
    ]


def _entity_edges(database: Database, corpus: str) -> list[tuple[Any, ...]]:
    return [
        (a, b, e["count"], round(e["weight"], 6), e["entities"], e["namesTitle"])
        for a, b, e in edges(database, corpus, "SHARES_ENTITY")
    ]


def test_mentions_and_entities(database: Database, corpus: str, other_corpus: str) -> None:
    _mentions(database, corpus)
    found = rows(
        database,
        "MATCH (p:Passage {corpus: $c})-[m:MENTIONS]->(e) RETURN p.id AS id, "
        "coalesce(e.name, e.id) AS to, properties(m) AS m ORDER BY id, to",
        c=corpus,
    )
    found.sort(key=lambda r: (short(r["id"]), short(r["to"])))
    assert [(short(r["id"]), short(r["to"])) for r in found] == [
        ("a1", "b"), ("a1", "c"), ("a1", "moe"), ("b1", "c"), ("c1", "moe"),
        ("c1", "the harbour fair"), ("d1", "moe"), ("d1", "the harbour fair"),
    ]  # fmt: skip
    assert found[0]["m"] == _mentioned("b", 0.8)
    assert found[2]["m"] == {"surface": "Moe", "start": 0, "end": 3, "offsets": [0, 3]}
    made = database.read("connect/entity_passages", corpus=corpus)
    assert [(short(r["id"]), short(r["document"]), r["title"], r["linkedBy"]) for r in made] == [
        ("a1", "a", "Ardfin Lighthouse", "titles"),
        ("a2", "a", "Ardfin Lighthouse", None),
        ("b1", "b", "Isobel Tarn", "titles"),
        ("c1", "c", "Kettlehaven", "titles"),
        ("d1", "d", "York", "titles"),
        ("e1", "e", "New York", "titles"),
    ]
    assert made[1]["text"] == "It has run without a crew since 1988."
    counts = database.read("connect/entity_counts", corpus=corpus)
    assert counts == [{"mentions": 8, "entities": 2}]
    passages(database, other_corpus)
    counts = database.read("connect/entity_counts", corpus=other_corpus)
    assert counts == [{"mentions": 0, "entities": 0}]


def test_mention_edges(database: Database, corpus: str) -> None:
    _mentions(database, corpus)
    done = database.write_in_batches("connect/mention_edges", corpus=corpus, passages=6)
    assert done == {"made": 3}
    twice = math.log(4) / math.log(7)  # two of six passages mention it
    assert _entity_edges(database, corpus) == [
        ("a1", "b1", 1, 0.8, ["Isobel Tarn"], True),
        ("a1", "c1", 1, round(0.4 * twice, 6), ["Kettlehaven"], True),
        ("b1", "c1", 1, round(0.6 * twice, 6), ["Kettlehaven"], True),
    ]


def test_mentioned(database: Database, corpus: str) -> None:
    _mentions(database, corpus)
    names = {node: name for name, node in _nodes(database, corpus).items()}

    def found(most: int) -> list[tuple[str, bool, list[str]]]:
        read = database.read("connect/mentioned", corpus=corpus, maxFrequency=most)
        return sorted(
            (r["title"], r["single"], sorted(names[n] for n in r["passages"])) for r in read
        )

    # Isobel Tarn is mentioned once, "moe" in three passages.
    twice = [("Kettlehaven", False, ["a1", "b1"]), ("The Harbour Fair", False, ["c1", "d1"])]
    assert found(2) == twice
    assert found(3) == [twice[0], ("Moe", True, ["a1", "c1", "d1"]), twice[1]]


def test_remove_mentions_entities_and_shared_entities(
    database: Database, corpus: str, other_corpus: str
) -> None:
    for name in (corpus, other_corpus):
        _mentions(database, name)
        database.write_in_batches("connect/mention_edges", corpus=name, passages=6)
    done = database.write_in_batches("connect/remove_shared_entities", corpus=corpus, batch=2)
    assert done == {"removed": 3}
    assert _entity_edges(database, corpus) == []
    # A passage that the linker is not done with loses what was written of it.
    rows(database, "MATCH (p:Passage {id: $c + '/b1'}) REMOVE p.linkedBy", c=corpus)
    kept = database.write_in_batches("connect/remove_mentions", corpus=corpus, linker="titles")
    assert kept == {"removed": 1}
    assert database.write_in_batches("connect/remove_entities", corpus=corpus) == {"removed": 0}
    done = database.write_in_batches("connect/remove_mentions", corpus=corpus, batch=2)
    assert done == {"removed": 7}
    assert {r["linkedBy"] for r in database.read("connect/entity_passages", corpus=corpus)} == {
        None
    }
    assert database.write_in_batches("connect/remove_entities", corpus=corpus) == {"removed": 2}
    counts = database.read("connect/entity_counts", corpus=other_corpus)
    assert counts == [{"mentions": 8, "entities": 2}]
    assert len(_entity_edges(database, other_corpus)) == 3
