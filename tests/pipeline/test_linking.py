"""Entity linking: names, aliases, word forms, meanings, Chinese, and what a model extracts."""

from collections.abc import Iterator

import pytest
from scripted_model import Scripted
from small_kg import kept, load_triples

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.chat import writer
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.load.graphs import StoredGraph, delete_graph, open_graph
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.types.errors import ConfigurationError, GraphError
from kgp_neo4j.types.settings import LinkSettings


@pytest.fixture(scope="module")
def graph(database: Database, english: str) -> StoredGraph:
    return open_graph(database, english)


def _linked(database: Database, graph: str, question: str) -> list[tuple[str, str, str]]:
    return [(e.surface, e.name, e.by) for e in link(open_graph(database, graph), question)]


def test_names_aliases_and_word_forms(database: Database, english: str) -> None:
    assert _linked(database, english, "Is it influenza? I have a fever and dry coughs.") == [
        ("influenza", "Flu", "alias"),
        ("fever", "Fever", "name"),
        ("dry coughs", "Dry cough", "words"),
    ]
    # In any order of the words, and by the name in brackets.
    assert _linked(database, english, "cramps in my stomach, and panadol") == [
        ("cramps in my stomach", "Stomach cramps", "words"),
        ("panadol", "Paracetamol (Panadol)", "words"),
    ]


def test_the_longest_name_wins(database: Database, chinese: str, english: str) -> None:
    ((_, name, _),) = _linked(database, english, "food poisoning")
    assert name == "Food poisoning"
    assert _linked(database, chinese, "我得了流行性感冒，发热怎么办") == [
        ("流行性感冒", "流行性感冒", "name"),
        ("发热", "发热", "name"),
    ]
    # A part of a long Chinese name is enough where it is most of it.
    assert _linked(database, chinese, "奥司他韦怎么吃") == []
    (part,) = _linked(database, chinese, "奥司他韦胶怎么吃")
    assert part == ("奥司他韦胶", "奥司他韦胶囊", "words")


def test_meanings(graph: StoredGraph) -> None:
    sick, belly = link(graph, "I am nauseous, and my stomach is cramping badly.")
    assert (sick.name, sick.by) == ("Nausea", "embedding")
    assert sick.score < 1
    assert len(sick.alternatives) == 3
    assert belly.name == "Stomach cramps"


_SYMBOLS = "C, C++, C#, TB-12, TB-120, A/B (x), Node.js, AT&T, V 1.5, A+, A-, 维生素B12".split(", ")


@pytest.fixture(scope="module")
def symbols(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    triples = [(name, "made_by", f"Maker {at} Strond") for at, name in enumerate(_SYMBOLS)]
    triples += [(name, "is", "Another") for name in ("Vitamin B1", "Type 1", "TB", "F")]
    triples += [("A+", "is_a", "Grade")]
    yield from kept(database, tmp_path_factory, load_triples, triples)


@pytest.mark.parametrize("name", _SYMBOLS)
def test_symbols_tell_names_apart(database: Database, symbols: str, name: str) -> None:
    for question in (f"Who made {name}?", f"who is behind {name.lower()} today", f"谁做了{name}？"):
        assert [each for _, each, _ in _linked(database, symbols, question)] == [name]
    maker = f"Maker {_SYMBOLS.index(name)} Strond"
    assert maker in ask_graph(database, symbols, f"Who made {name}?").text.splitlines()[0]
    for text in (name, f"Who made {name}?"):
        rows = database.read("procedures/link_entities", text=text, graph=symbols, limit=5)
        assert [row["entity"]["name"] for row in rows if row["by"] == "name"] == [name]


@pytest.mark.parametrize(
    "name", "F#, F++, TB-1, TB-13, vitamin B12, Type 2, Node, AT, 维生素B1, .F, V 1/5".split(", ")
)
def test_a_name_with_other_symbols_is_another(database: Database, symbols: str, name: str) -> None:
    assert not any(entity for _, entity, _ in _linked(database, symbols, f"Who made {name}?"))
    rows = database.read("procedures/link_entities", text=f"{name}?", graph=symbols, limit=5)
    assert "name" not in {row["by"] for row in rows}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("TB/500mg, Vitamin B1/TB-12+AT&T", {"TB", "Vitamin B1", "TB-12", "AT&T"}),
        ("C/C++", {"C", "C++"}),
        ("I have a Grade A+", {"Grade", "A+"}),
        ("V 1/5 is F", {"F"}),
        (None, set()),
    ],
)
def test_slashes(database: Database, symbols: str, text: str | None, names: set[str]) -> None:
    assert {name for _, name, _ in _linked(database, symbols, text or "")} == names
    rows = database.read("procedures/link_entities", text=text, graph=symbols, limit=5)
    assert {row["entity"]["name"] for row in rows if row["by"] == "name"} == names


def test_slips_of_spelling_are_linked_and_told(database: Database, english: str) -> None:
    assert _linked(database, english, "Is it a foood poisonnig?") == [
        ("foood poisonnig", "Food poisoning", "spelling")
    ]
    made = ask_graph(database, english, "I take paracetmol.")
    assert made.notices == ("Linked by spelling: paracetmol → Paracetamol (Panadol).",)
    # Short names are not guessed at, nor is a word that a name has so.
    assert not any(by == "spelling" for _, _, by in _linked(database, english, "Fu, feve and foot"))


@pytest.fixture(scope="module")
def tickets(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    triples = [(f"Ticket {at}", "follows", f"Ticket {at - 1}") for at in range(1, 100)]
    triples += [("Ticket 7", "opened_by", "Anna Keller"), ("Home", "written_by", "Tomas Berg")]
    yield from kept(database, tmp_path_factory, load_triples, triples)


def test_small_letters_name_nothing_that_has_capitals(database: Database, tickets: str) -> None:
    # Names whose later words are numbers alone do not tell how names are written.
    asked = "Which tickets did Anna Keller open at home?"
    assert _linked(database, tickets, asked) == [("Anna Keller", "Anna Keller", "name")]
    ((_, name, _),) = _linked(database, tickets, "who wrote home?")
    assert name == "Home"


def test_nothing_is_forced(graph: StoredGraph, database: Database) -> None:
    for question in ("What is the weather in Paris?", "", "?!"):
        assert link(graph, question) == []
    (near,) = link(graph, "I am nauseous", LinkSettings(threshold=1.0))
    assert (near.id, near.surface, near.alternatives[0][0]) == ("", "nauseous", "Nausea")
    with pytest.raises(GraphError, match="there is no knowledge graph"):
        link(open_graph(database, "no such graph"), "flu")
    with pytest.raises(ConfigurationError, match="not valid Unicode"):
        link(graph, "a \ud800 flu")
    with pytest.raises(ConfigurationError, match="threshold is 2"):
        LinkSettings(threshold=2)


def test_lucene_syntax_is_text(database: Database, english: str) -> None:
    text = 'name:("flu") AND NOT nausea~2 +scope:* \\ [fever TO z] ^5 && || !'
    assert {name for _, name, _ in _linked(database, english, text)} == {"Flu", "Nausea", "Fever"}


def test_graphs_are_apart(graph: StoredGraph, database: Database, chinese: str) -> None:
    assert link(open_graph(database, chinese), "flu and nausea") == []
    assert link(graph, "流行性感冒") == []


def test_a_model_extracts(graph: StoredGraph) -> None:
    reply = 'Here it is: ["stomach cramps", "feeling nauseous", "quantum chromodynamics"]'
    model = Scripted([reply])
    found = link(graph, "My belly aches and I feel sick.", write=writer(model))
    assert [(e.surface, e.name, e.by) for e in found] == [
        ("stomach cramps", "Stomach cramps", "model"),
        ("feeling nauseous", "Nausea", "model"),
        ("quantum chromodynamics", "", "model"),
    ]
    assert found[2].id == ""
    assert found[2].alternatives
    (prompt,) = model.prompts
    assert "My belly aches" in prompt
    assert prompt.count("Question:") == 4


@pytest.mark.parametrize(
    ("reply", "surfaces"),
    [
        ('["nausea", "flu"]', ["nausea", "flu"]),
        ("Entities: ['nausea', 'flu']", ["nausea", "flu"]),
        ("- nausea\n- flu\n", ["nausea", "flu"]),
        ("1. nausea\n2) flu", ["nausea", "flu"]),
        # Without names in the reply the question's own are matched.
        *((reply, ["fever"]) for reply in ("", "The patient has a really bad flu.", "[", "{}")),
        ("[1, 2]", ["fever"]),
        (str(["flu" * 40] * 3), ["fever"]),
    ],
)
def test_replies(graph: StoredGraph, reply: str, surfaces: list[str]) -> None:
    assert [e.surface for e in link(graph, "a fever", write=lambda _: reply)] == surfaces


def test_nearest_entities_in_a_crowd(database: Database, english: str, encoder: Encoder) -> None:
    """Another graph has 210 entities as near: more than the index is asked for."""
    vector = encoder.encode(["Nausea"])[0].tolist()
    other = f"{english} too"
    names = [f"n{number}" for number in range(210)]
    try:
        database.write("load_kg/begin", graph=other, scope="other", load="x")
        entities = [
            {"id": f"{other}/{n}", "key": n, "name": n, "aliases": [], "type": "", "labels": []}
            for n in names
        ]
        database.write("load_kg/entities", graph=other, load="x", rows=entities)
        vectors = [{"id": entity["id"], "vector": vector} for entity in entities]
        database.write("connect/embeddings", rows=vectors)
        phrases = [{"text": "sick", "vector": vector}]
        found = database.read("explore/nearest_entities", graph=english, phrases=phrases, limit=2)
        assert [row["name"] for row in found][:1] == ["Nausea"]
        assert len(found) == 2
    finally:
        delete_graph(database, other)


def test_link_entities_procedure(database: Database, english: str, chinese: str) -> None:
    def found(text: str, graph: str) -> list[tuple[str, str, str]]:
        rows = database.read("procedures/link_entities", text=text, graph=graph, limit=5)
        return [(row["surface"], row["entity"]["name"], row["by"]) for row in rows]

    assert found("Nausea, and food poisoning too", english)[:2] == [
        ("nausea", "Nausea", "name"),
        ("food poisoning", "Food poisoning", "name"),
    ]
    assert found("a hacking thing", english) == [("Dry cough", "Dry cough", "words")]
    assert found("我发热了", chinese)[0] == ("发热", "发热", "name")
    assert found("性感", chinese) == [("流行性感冒", "流行性感冒", "words")]
    assert found("", english) == []
