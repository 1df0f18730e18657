"""Every statement of cypher/connect on a graph of six passages."""

from __future__ import annotations

import math
import operator
from typing import Any

import pytest
from graphs import rows
from small_graphs import PASSAGES, edges, key, keywords, lighthouse, passages, short

from kgp_neo4j.corpus.load import own_indexes
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
    query = "MATCH (:Corpus {name: $c})-[:HAS_GRAPH]->(g) RETURN g.type AS type, g.settings AS s"
    assert sorted(rows(database, query, c=corpus), key=str) == [
        {"type": graph, "s": f"of {graph}"} for graph in ("keywords", "similarity")
    ]
    (done,) = database.write("connect/begin", corpus=corpus, graph="keywords")
    assert done["corpus"] == corpus
    # It can be asked while it is made again, and is unfinished until it is made.
    assert _state(database, corpus)["connected"] == ["keywords", "similarity"]
    assert _state(database, corpus)["unconnected"] == _state(database, corpus)["passages"]
    database.write("connect/begin", corpus=corpus, graph="keywords", keep=False)
    assert _state(database, corpus)["connected"] == ["similarity"]
    assert database.write("connect/begin", corpus="no such", graph="keywords") == []
    assert database.write("connect/finish", corpus="no such", graph="g", settings="") == []


def test_made(database: Database, corpus: str) -> None:
    passages(database, corpus)
    said = {"corpus": corpus, "graph": "keywords"}
    finish = {**said, "settings": "", "madeOf": "of keywords"}

    def made() -> list[Any]:
        return [row["keywords"] for row in database.read("connect/made", corpus=corpus)]

    (begun,) = database.write("connect/begin", **said)
    database.write("connect/finish", **finish, run=begun["run"])
    assert made() == ["of keywords"]
    # Another run begins while one is at it: what stands there is of both.
    (first,) = database.write("connect/begin", **said)
    (second,) = database.write("connect/begin", **said)
    assert second["run"] is None
    database.write("connect/finish", **finish, run=first["run"])
    assert made() == [None]
    # The documents change meanwhile.
    query = "MATCH (d:Document {corpus: $c}) RETURN d.id AS id ORDER BY id LIMIT 1"
    ids = [row["id"] for row in rows(database, query, c=corpus)]
    for change in (
        lambda: passages(database, corpus),
        lambda: database.write("load/changed", corpus=corpus),
        lambda: database.write_in_batches("load/delete_documents", corpus=corpus, ids=ids),
    ):
        (begun,) = database.write("connect/begin", **said)
        change()
        database.write("connect/finish", **finish, run=begun["run"])
        assert made() == [None]
    (begun,) = database.write("connect/begin", **said)
    database.write("connect/finish", **finish, run=begun["run"])
    assert made() == ["of keywords"]
    assert database.read("connect/made", corpus="no such") == []


@pytest.mark.parametrize("value", [object(), 2**70])
def test_a_value_that_no_database_takes_is_no_fault_of_the_server(
    database: Database, value: object
) -> None:
    with pytest.raises((ValueError, OverflowError)):
        database.read("connect/made", corpus=value)


def test_encoder(database: Database, corpus: str) -> None:
    passages(database, corpus)
    first = database.write("connect/encoder", corpus=corpus, encoder="e", dimension=2)
    assert first == [{"encoder": "e", "dimension": 2, "fingerprint": None}]
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
    assert [row["id"] for row in found] == sorted(row["id"] for row in found)
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


def test_what_is_noted_of_keywords(database: Database, corpus: str) -> None:
    lighthouse(database, corpus)
    nodes = _nodes(database, corpus)
    seen = {"id": f"{corpus}/a1", "marks": {"keywordMarks": "m"}}
    assert database.write("connect/marks", corpus=corpus, rows=[seen]) == [{"written": 1}]
    assert database.write("connect/marks", corpus="", rows=[seen]) == [{"written": 0}]
    kept = ("keywordMarks", "keywords", "sharedMarks", "shared")

    def noted(**values: Any) -> tuple[Any, ...]:
        found = database.read("connect/passages", corpus=corpus, **values)[0]
        return (short(found["id"]), *(found[name] for name in kept))

    assert noted() == ("a1", "m", 2, None, 1)
    assert noted(anew=True) == ("a1", None, 2, None, 1)
    done = database.write("connect/remove_keyword_links", corpus=corpus, rows=[nodes["a1"]])
    assert done == [{"written": 2}]
    assert noted() == ("a1", None, 0, None, 1)


def test_stored_keywords(database: Database, corpus: str, other_corpus: str) -> None:
    lighthouse(database, corpus)
    lighthouse(database, other_corpus)
    found = database.read("connect/stored_keywords", corpus=corpus)
    assert len(found) == 6
    assert {"text": "isobel tarn", "frequency": 2, "named": True} in found
    texts = [row["text"] for row in found]
    assert texts == sorted(texts)
    after = {"corpus": corpus, "after": texts[1], "limit": 3}
    assert database.read("connect/stored_keywords", **after) == found[2:5]
    assert database.read_packed("connect/stored_keywords", **after) == found[2:5]
    assert database.read("connect/stored_keywords", corpus=corpus, after=texts[-1]) == []


@pytest.mark.parametrize(
    ("kind", "names", "mark"),
    [
        ("SHARES_KEYWORD", "keywords", "sharedKeywordMarks"),
        ("SHARES_ENTITY", "entities", "sharedEntityMarks"),
    ],
)
def test_shared_edges(
    database: Database, corpus: str, other_corpus: str, kind: str, names: str, mark: str
) -> None:
    for name in (corpus, other_corpus):
        passages(database, name)
    nodes, others = _nodes(database, corpus), _nodes(database, other_corpus)

    def replace(name: str, *given: list[Any], **values: Any) -> list[dict[str, Any]]:
        row = {"node": nodes[name], "marks": f"of {name}", "edges": list(given)}
        edge = {"type": kind, "items": names, "marks": mark}
        return database.write("connect/shared", corpus=corpus, rows=[row], **edge, **values)

    both = [nodes["d1"], 7, 0.5, ["coast", "harbour"], False]
    assert replace("a1", [nodes["b1"], 1, 0.25, ["tarn"], True]) == [{"written": 1}]
    # A passage of another corpus is left alone.
    assert replace("c1", both, [others["a1"], 1, 0.5, ["coast"], False]) == [{"written": 1}]
    first = ("a1", "b1", {"count": 1, "weight": 0.25, names: ["tarn"], "namesTitle": True})
    second = {"count": 7, "weight": 0.5, names: ["coast", "harbour"], "namesTitle": False}
    assert edges(database, corpus, kind) == [first, ("c1", "d1", second)]
    # What went out before goes; what comes in stays.
    assert replace("c1", [nodes["b1"], *both[1:]]) == [{"written": 1}]
    assert replace("d1") == [{"written": 0}]
    assert edges(database, corpus, kind) == [first, ("c1", "b1", second)]
    assert replace("a1") == [{"written": 0}]
    assert edges(database, corpus, kind) == [("c1", "b1", second)]
    query = "MATCH (p:Passage {corpus: $c}) WHERE p[$m] IS NOT NULL RETURN p[$m] AS m ORDER BY m"
    assert [row["m"] for row in rows(database, query, c=corpus, m=mark)] == [
        "of a1", "of c1", "of d1",
    ]  # fmt: skip
    # Beside those that are there.
    assert replace("c1", both, replace=False) == [{"written": 1}]
    assert edges(database, corpus, kind) == [("c1", "b1", second), ("c1", "d1", second)]


def test_similarity_edges_are_removed(database: Database, corpus: str, other_corpus: str) -> None:
    lighthouse(database, corpus)
    lighthouse(database, other_corpus)
    done = database.write_in_batches(
        "connect/remove_edges", corpus=corpus, type="SIMILAR_ST", batch=1
    )
    assert done == {"removed": 3}
    assert edges(database, corpus, "SIMILAR_ST") == []
    assert len(edges(database, other_corpus, "SIMILAR_ST")) == 3
    assert len(edges(database, corpus, "NEXT")) == 1
    assert database.write_in_batches("connect/remove_edges", corpus=corpus, type="SIMILAR_ST")[
        "removed"
    ] in (
        0,
        None,
    )


def test_keep_nearest(database: Database, corpus: str, other_corpus: str) -> None:
    for name in (corpus, other_corpus):
        nodes = _nodes(database, lighthouse(database, name))
        scores = {"b1": 0.1, "c1": 0.7, "d1": 0.3}
        given = {"node": nodes["a1"], "edges": [[nodes[to], s] for to, s in scores.items()]}
        database.write("connect/join", corpus=name, rows=[given])
    done = database.write_in_batches("connect/keep_nearest", corpus=corpus, neighbours=2, batch=1)
    assert done == {"removed": 1}
    kept = {(a, b) for a, b, _ in edges(database, corpus, "SIMILAR_ST")}
    assert kept == {("a1", "c1"), ("a1", "d1"), ("a2", "a1"), ("b1", "a2")}
    assert len(edges(database, other_corpus, "SIMILAR_ST")) == 5
    done = database.write_in_batches("connect/keep_nearest", corpus=corpus, type="SIMILAR_MDR")
    assert done == {"removed": 0}


def test_similarity_edges_of_a_few_passages(
    database: Database, corpus: str, other_corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_indexes, "LARGE", 1)
    for name in (corpus, other_corpus):
        lighthouse(database, name)
    state = {"corpus": corpus, "graph": "similarity"}
    assert database.read("connect/similarity", **state) == [
        {"passages": 5, "settings": None, "indexed": False}
    ]
    database.write("connect/finish", corpus=corpus, graph="similarity", settings="{}")
    own_indexes.make_own_indexes(database, corpus)
    assert database.read("connect/similarity", **state) == [
        {"passages": 5, "settings": "{}", "indexed": True}
    ]
    assert database.read("connect/similarity", corpus=corpus, graph="mdr") == [
        {"passages": 0, "settings": None, "indexed": False}
    ]
    nodes = _nodes(database, corpus)
    names = {node: name for name, node in nodes.items()}
    lonely = database.read("connect/unjoined", corpus=corpus, least=1)
    before = edges(database, corpus, "SIMILAR_ST")
    joined = {a for a, _, _ in before}
    embedded = {n for _, texts in PASSAGES.values() for n, (_, vector) in texts.items() if vector}
    assert {names[row["node"]] for row in lonely} == embedded - joined
    given = {"corpus": corpus, "rows": [nodes["a1"], nodes["d1"]]}
    near = database.read("connect/nearest", **given, depth=10)
    assert {(names[r["node"]], names[r["other"]]) for r in near} == {
        (a, b) for a in ("a1", "d1") for b in embedded if a != b
    }
    vectors = {n: v for _, texts in PASSAGES.values() for n, (_, v) in texts.items()}
    for row in near:
        a, b = vectors[names[row["node"]]], vectors[names[row["other"]]]
        cosine = sum(map(operator.mul, a, b))
        assert math.isclose(row["score"], (1 + cosine) / 2, abs_tol=1e-6)
    known = database.read("connect/edges", corpus=corpus, rows=list(nodes.values()))
    assert sorted((names[r["node"]], names[r["other"]], r["weight"]) for r in known) == sorted(
        (a, b, e["score"]) for a, b, e in before
    )
    given = {"node": nodes["a1"], "edges": [[nodes["d1"], 0.25], [nodes["b1"], 0.75]]}
    assert database.write("connect/join", corpus=corpus, rows=[given]) == [{"written": 2}]
    assert edges(database, corpus, "SIMILAR_ST") == sorted(
        [
            *(e for e in before if e[0] != "a1"),
            ("a1", "b1", {"score": 0.75}),
            ("a1", "d1", {"score": 0.25}),
        ],
        key=operator.itemgetter(0, 1),
    )
    assert database.write("connect/join", corpus=other_corpus, rows=[given]) == [{"written": 0}]


def test_remove_keywords(database: Database, corpus: str, other_corpus: str) -> None:
    lighthouse(database, corpus)
    lighthouse(database, other_corpus)
    texts = [row["text"] for row in database.read("connect/stored_keywords", corpus=corpus)]
    given = {"corpus": corpus, "rows": [*texts[1:], "none"]}
    assert database.write("connect/remove_keywords", **given) == [{"written": 0}]
    database.write_in_batches("connect/remove_edges", corpus=corpus, type="HAS_KEYWORD")
    assert database.write("connect/remove_keywords", **given) == [{"written": 5}]
    query = "MATCH (k:Keyword {corpus: $c}) RETURN count(k) AS n"
    assert rows(database, query, c=corpus) == [{"n": 1}]
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
    database.write_in_batches("connect/remove_edges", corpus=corpus, type="SIMILAR_ST")
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
            "marks": f"of {p}",
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


def test_marks_and_their_removal_with_the_edges(database: Database, corpus: str) -> None:
    lighthouse(database, corpus)
    kinds = {
        "HAS_KEYWORD": "keywordMarks",
        "SHARES_KEYWORD": "sharedKeywordMarks",
        "MENTIONS": "mentionMarks",
        "SHARES_ENTITY": "sharedEntityMarks",
    }
    ids = [row["id"] for row in database.read("connect/passages", corpus=corpus)]
    marks = dict.fromkeys(kinds.values(), "of it")
    written = [{"id": id_, "marks": marks} for id_ in (*ids, "gone")]
    assert database.write("connect/marks", corpus=corpus, rows=written) == [{"written": len(ids)}]
    query = "MATCH (p:Passage {corpus: $c}) RETURN p.id AS id, [m IN $m WHERE p[m] = 'of it'] AS m"
    count = "MATCH (:Passage {corpus: $c})-[e]->() WHERE type(e) = $type RETURN count(e) AS there"
    left = list(marks)
    for type_, name in kinds.items():
        there = rows(database, count, c=corpus, type=type_)[0]["there"]
        done = database.write_in_batches(
            "connect/remove_edges", corpus=corpus, type=type_, marks=name
        )
        assert (done["removed"] or 0) == there
        assert rows(database, count, c=corpus, type=type_) == [{"there": 0}]
        left.remove(name)
        found = rows(database, query, c=corpus, m=list(marks))
        assert [row["m"] for row in found] == [left] * len(ids)
    assert rows(database, "MATCH (p {id: 'gone'}) RETURN p") == []


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
    for name, counts in ((corpus, (2, 8, 0)), (other_corpus, (0, 0, 0))):
        passages(database, name)
        database.write("connect/finish", corpus=name, graph="entities", settings="{}")
        sizes = dict(zip(("nodes", "links", "edges"), counts, strict=True))
        counted = database.write("connect/counts", corpus=name, complete=False)
        assert counted == [{"graph": "entities", **sizes}]


def test_naming(database: Database, corpus: str) -> None:
    _mentions(database, corpus)
    nodes = {node: name for name, node in _nodes(database, corpus).items()}
    found = [
        (nodes[passage], nodes[r["other"]], r["title"], score, r["frequency"])
        for r in database.read("connect/naming", corpus=corpus)
        for passage, score in r["naming"]
    ]
    assert sorted(found) == [
        ("a1", "b1", "Isobel Tarn", 0.8, 1),
        ("a1", "c1", "Kettlehaven", 0.4, 2),
        ("b1", "c1", "Kettlehaven", 0.6, 2),
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


def test_mentions_are_replaced_and_entities_removed(
    database: Database, corpus: str, other_corpus: str
) -> None:
    for name in (corpus, other_corpus):
        _mentions(database, name)
    kinds = {"moe": "Phrase", "the harbour fair": "EVENT"}
    found = database.read("connect/stored_entities", corpus=corpus)
    assert database.read("connect/stored_entities", corpus=corpus, after="moe") == found[1:]
    assert {r["name"]: (r["title"], r["type"]) for r in found} == {
        name: (name.title(), kind) for name, kind in kinds.items()
    }
    moe = {r["name"]: r["node"] for r in found}["moe"]
    kept = {k: v for k, v in _named("moe").items() if v is not None}
    for passage, mentions in (("a1", [{"node": moe, **_named("moe")}]), ("c1", []), ("d1", [])):
        row = {"passage": f"{corpus}/{passage}", "marks": "new", "mentions": mentions}
        done = database.write("connect/mentions", corpus=corpus, rows=[row], linker="spacy")
        assert done == [{"written": len(mentions)}]
    left = rows(
        database,
        "MATCH (p:Passage {corpus: $c})-[m:MENTIONS]->(e) RETURN p.id AS id, "
        "coalesce(e.name, e.title) AS to, properties(m) AS m ORDER BY id",
        c=corpus,
    )
    assert [(short(r["id"]), r["to"]) for r in left] == [("a1", "moe"), ("b1", "Kettlehaven")]
    assert left[0]["m"] == kept
    made = database.read("connect/entity_passages", corpus=corpus)
    noted = ("linkedBy", "mentionMarks", "mentions", "sharedMarks", "shared")
    assert [tuple(r[n] for n in noted) for r in made] == [
        ("spacy", "new", 1, None, 0),
        (None, None, 0, None, 0),
        ("titles", "of b1", 1, None, 0),
        ("spacy", "new", 0, None, 0),
        ("spacy", "new", 0, None, 0),
        ("titles", "of e1", 0, None, 0),
    ]
    made = database.read("connect/entity_passages", corpus=corpus, anew=True)
    assert {(r["linkedBy"], r["mentionMarks"]) for r in made} == {(None, None)}
    assert database.write_in_batches("connect/remove_entities", corpus=corpus) == {"removed": 1}
    assert len(database.read("connect/stored_entities", corpus=other_corpus)) == 2


def test_counts_are_kept_once_all_parts_are_there(
    database: Database, corpus: str, other_corpus: str
) -> None:
    for name in (corpus, other_corpus):
        passages(database, name)
    of = {"corpus": corpus, "graph": "keywords"}

    def kept(of: str) -> list[bytes]:
        found = database.read("connect/kept_counts", corpus=corpus, graph="keywords", madeOf=of)
        return [bytes(row["data"]) for row in found]

    def finish(run: str) -> None:
        database.write("connect/finish", **of, run=run, settings="", madeOf="settings")

    finish("none")
    for run in ("first", "second"):
        for part in (1, 0):
            given = {"run": run, "part": part, "data": f"{run} {part}".encode()}
            assert database.write("connect/keep_counts", **of, **given) == [{"part": part}]
        # What is being written is not what is kept.
        assert kept("settings") == ([] if run == "first" else [b"first 0", b"first 1"])
        finish(run)
    assert kept("settings") == [b"second 0", b"second 1"]
    assert kept("others") == []
    # Where another run has begun since, nothing is kept of either.
    (begun,) = database.write("connect/begin", **of)
    database.write("connect/keep_counts", **of, run="third", part=0, data=b"third")
    finish("third")
    assert begun["run"] != "third"
    assert kept("settings") == []
    (begun,) = database.write("connect/begin", **of)
    database.write("connect/keep_counts", **of, run=begun["run"], part=0, data=b"own")
    finish(begun["run"])
    assert kept("settings") == [b"own"]
    given = {"corpus": other_corpus, "graph": "keywords", "run": "r", "part": 0, "data": b""}
    database.write("connect/begin", corpus=other_corpus, graph="keywords")
    database.write("connect/keep_counts", **given)
    database.write_in_batches("load/delete_rest", corpus=other_corpus)
    query = "MATCH (:Corpus {name: $c})-[:HAS_GRAPH]->(n) RETURN n"
    assert rows(database, query, c=other_corpus) == []
    assert rows(database, "MATCH (n:Counts {run: 'r'}) RETURN n") == []


def test_pending_passages_and_titles(database: Database, corpus: str) -> None:
    lighthouse(database, corpus)
    seen = {"id": f"{corpus}/b1", "marks": {"inKeywordGraph": True}}
    database.write("connect/marks", corpus=corpus, rows=[seen])

    def pending(graph: str) -> tuple[int, list[str]]:
        (found,) = database.read("connect/pending", corpus=corpus, graph=graph)
        return found["passages"], [short(id_) for id_ in found["pending"]]

    assert pending("keywords") == (6, ["a1", "a2", "c1", "d1", "e1"])
    assert pending("entities") == (6, ["a1", "a2", "b1", "c1", "d1", "e1"])
    rows(database, "MATCH (p:Passage {corpus: $c}) SET p.linkedBy = 'titles'", c=corpus)
    assert pending("entities") == (6, [])
    found = database.read("connect/titles", corpus=corpus)
    assert {(short(row["document"]), row["title"]) for row in found} == {
        (name, title) for name, (title, _) in PASSAGES.items()
    }
    some = {"corpus": corpus, "rows": [*key(corpus, "d1", "a2"), "none"]}
    for path in ("connect/passages", "connect/entity_passages"):
        assert [short(row["id"]) for row in database.read(path, **some)] == ["a2", "d1"]
        assert database.read(path, corpus="no such", rows=some["rows"]) == []


@pytest.mark.parametrize("large", [1, 1000])
def test_passages_that_have_a_phrase(
    database: Database,
    corpus: str,
    other_corpus: str,
    large: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_indexes, "LARGE", large)
    for name in (corpus, other_corpus):
        lighthouse(database, name)
        own_indexes.make_own_indexes(database, name)
    text = "MATCH (p:Passage {id: $c + '/e1'}) SET p.text = $t"
    rows(database, text, c=corpus, t="It has O'Brien's statue of 1,000 stones.")
    phrases = {
        "h": ["harbour"] * 2, "b": ["born in"] * 2, "t": ["isobel tarn"] * 2,
        "d": ["designing"] * 2, "n": ["none"] * 2, "o": ["brien s", "O'Brien's"],
        "m": ["1 000", "1,000"],
    }  # fmt: skip

    def having(**given: Any) -> dict[str, list[str]]:
        found = database.read(
            "connect/having",
            corpus=corpus,
            rows=[[key, *phrase] for key, phrase in phrases.items()],
            **given,
        )
        return {row["key"]: sorted(map(short, row["passages"])) for row in found}

    # "Designed" is a form of "designing", and not the very word.
    wanted = {
        "h": ["c1", "d1"], "b": ["b1"], "t": ["a1", "b1"], "d": [], "n": [],
        "o": ["e1"], "m": ["e1"],
    }  # fmt: skip
    assert having(most=5) == wanted
    assert [len(found) for found in having(most=1).values()] == [1, 1, 1, 0, 0, 1, 1]
    assert having(most=5, cased=True) == wanted | {"t": [], "o": []}


def test_known_keywords_and_entities(database: Database, corpus: str, other_corpus: str) -> None:
    for name in (corpus, other_corpus):
        lighthouse(database, name)
    nodes = _nodes(database, corpus)
    found = database.read("connect/stored_keywords", corpus=corpus, rows=["york", "none"])
    assert found == [{"text": "york", "frequency": 1, "named": True}]
    given = {"corpus": corpus, "passages": [nodes["b1"], nodes["a1"]]}
    found = database.read("connect/stored_keywords", **given)
    assert sorted((row["text"], row["frequency"], row["named"]) for row in found) == [
        ("ardfin lighthouse", 1, True),
        ("isobel tarn", 2, True),
        ("kettlehaven", 2, True),
    ]
    changed = [{"text": "york", "frequency": 7}, {"text": "none", "frequency": 1}]
    done = database.write("connect/keyword_frequencies", corpus=corpus, rows=changed)
    assert done == [{"written": 1}]
    for name, frequency in ((corpus, 7), (other_corpus, 1)):
        (york,) = database.read("connect/stored_keywords", corpus=name, rows=["york"])
        assert york == {"text": "york", "frequency": frequency, "named": True}
    given = {"corpus": corpus, "rows": [{"name": "coast", "title": "Coast", "type": "Phrase"}]}
    database.write("connect/entities", **given)
    (known,) = database.read("connect/stored_entities", corpus=corpus, rows=["coast", "none"])
    assert (known["name"], known["title"], known["type"]) == ("coast", "Coast", "Phrase")
    assert database.read("connect/stored_entities", corpus=other_corpus, rows=["coast"]) == []


def test_neighbours_of_new_passages_by_keywords(database: Database, corpus: str) -> None:
    passages(database, corpus)
    keywords(database, corpus)
    nodes = _nodes(database, corpus)
    names = {node: name for name, node in nodes.items()}

    def found(*of: str, neighbours: int = 1, most: int = 2) -> list[tuple[Any, ...]]:
        made = database.read(
            "connect/keyword_neighbours", corpus=corpus, rows=[nodes[name] for name in of],
            maxFrequency=most, neighbours=neighbours, mostOwners=20,
        )  # fmt: skip
        return sorted(
            (names[r["first"]], names[r["second"]], r["count"], r["weight"], r["items"],
             r["namesTitle"], r["chosen"])
            for r in made
        )  # fmt: skip

    named = ("a1", "b1", 1, 0.25, ["isobel tarn"], True, True)
    assert found("a1") == [(*named[:5], False, True), named]
    # A title in both directions; b1 has a1 for its strongest, and c1 has b1.
    assert found("b1") == [
        ("a1", "b1", 1, 0.25, ["isobel tarn"], True, True),
        ("b1", "a1", 1, 0.25, ["isobel tarn"], False, True),
        ("b1", "c1", 1, 0.25, ["kettlehaven"], False, False),
        ("b1", "c1", 1, 0.25, ["kettlehaven"], True, True),
    ]
    assert found("a1", most=1) == [named]
    assert found("a2") == []


def test_neighbours_of_new_passages_by_mentions(database: Database, corpus: str) -> None:
    passages(database, corpus)
    nodes = _nodes(database, corpus)
    names = {node: name for name, node in nodes.items()}
    query = (
        "UNWIND $rows AS row MATCH (p:Passage {id: $c + '/' + row[0]}) "
        "MERGE (e:NamedEntity {corpus: $c, name: row[1]}) SET e.title = row[1], e.type = 'Phrase' "
        "CREATE (p)-[:MENTIONS {score: 0.5}]->(e)"
    )
    given = [[p, e] for e in ("coast", "old coast") for p in ("a1", "c1")]
    rows(database, query, c=corpus, rows=[*given, ["d1", "coast"], ["e1", "alone"]])
    query = (
        "MATCH (p:Passage {id: $c + '/b1'}), (d:Document {id: $c + '/c'}) "
        "CREATE (p)-[:MENTIONS {score: 0.5}]->(d)"
    )
    rows(database, query, c=corpus)

    def found(name: str, neighbours: int) -> list[tuple[Any, ...]]:
        made = database.read(
            "connect/entity_neighbours", corpus=corpus, rows=[nodes[name]],
            maxFrequency=3, neighbours=neighbours, passages=6,
        )  # fmt: skip
        return sorted(
            (names[r["first"]], names[r["second"]], r["items"], r["namesTitle"], r["chosen"],
             round(r["weight"], 6))
            for r in made
        )  # fmt: skip

    coast, old = 0.5 * math.log(3) / math.log(7), math.log(4) / math.log(7)
    strong = ("a1", "c1", ["old coast", "coast"], False, True, round(coast + old, 6))
    assert found("a1", 1) == [strong, ("a1", "d1", ["coast"], False, False, round(coast, 6))]
    assert found("a1", 2) == [strong, ("a1", "d1", ["coast"], False, True, round(coast, 6))]
    assert found("d1", 1) == [("d1", "a1", ["coast"], False, True, round(coast, 6))]
    titled = ("b1", "c1", ["Kettlehaven"], True, True, 0.5)
    assert found("b1", 1) == [titled]
    assert titled in found("c1", 1)
