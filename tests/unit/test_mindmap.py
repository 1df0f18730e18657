"""Step III without a database: prompt, reply, check, composed answer, pictures."""

import re

import pytest
from scripted_model import Scripted

from kgp_neo4j import MindMap
from kgp_neo4j.llm.chat import writer
from kgp_neo4j.mindmap.answer import ask_graph
from kgp_neo4j.mindmap.answer.ask_graph import Checker, answer_from, as_question, read_turns
from kgp_neo4j.mindmap.answer.compose import rank_candidates
from kgp_neo4j.show.pages import page_of
from kgp_neo4j.show.terminal import tree_lines
from kgp_neo4j.show.trees import map_tree, mind_map_mermaid
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.mindmap import EvidenceGraph, LinkedEntity, MapEdge, ReasoningGraph, Triple

_QUESTION = "I am tired and dizzy. What is it?"
_FACTS = (
    ("Fatigue", "possible_disease", "Anemia", "Symptom", "Disease"),
    ("Anemia", "has_symptom", "Fatigue", "Disease", "Symptom"),
    ("Anemia", "has_symptom", "Dizziness", "Disease", "Symptom"),
    ("Anemia", "need_medication", "Iron", "Disease", "Drug"),
    ("Flu", "has_symptom", "Fatigue", "Disease", "Symptom"),
    ("Flu", "need_medical_test", "Throat {swab}", "Disease", "Test"),
)


def _id(name: str) -> str:
    return "e" + re.sub(r"\W", "", name)


def _triple(at: int, fact: tuple[str, str, str, str, str]) -> Triple:
    head, relation, tail, head_type, tail_type = fact
    return Triple(f"t{at}", head, relation, tail, _id(head), _id(tail), head_type, tail_type)


def _linked(surface: str, name: str) -> LinkedEntity:
    return LinkedEntity(surface, _id(name), name, "Symptom", 1.0)


def _reasoning(*facts: tuple[str, str, str, str, str], asked: tuple[str, ...]) -> ReasoningGraph:
    triples = tuple(_triple(at, fact) for at, fact in enumerate(facts))
    evidence = tuple(EvidenceGraph("neighbour", t.head, (t,)) for t in triples)
    return ReasoningGraph(tuple(_linked(name.lower(), name) for name in asked), evidence, triples)


@pytest.fixture
def reasoning() -> ReasoningGraph:
    """Anemia is behind both of the question's entities, flu behind one."""
    triples = tuple(_triple(at, fact) for at, fact in enumerate(_FACTS))
    evidence = (
        EvidenceGraph("path", "Fatigue", triples[1:3], ("Fatigue", "Anemia", "Dizziness")),
        EvidenceGraph("neighbour", "Fatigue", (triples[4], triples[5])),
        EvidenceGraph("neighbour", "Anemia", (triples[3], triples[0])),
    )
    linked = _linked("tired", "Fatigue"), _linked("dizzy", "Dizziness")
    return ReasoningGraph(linked, evidence, triples)


def test_the_prompt_has_its_five_parts_and_leaves_braces_alone(reasoning: ReasoningGraph) -> None:
    question = "What {is} this {0}? %s {question} $x"
    prompt = ask_graph.five_parts(question, reasoning)
    places = [
        prompt.index(part)
        for part in (
            "knowledge graph, as an expert",
            question,
            "Evidence 1: Fatigue <- has_symptom <- Anemia -> has_symptom -> Dizziness\n"
            "Evidence 2: Flu -> has_symptom -> Fatigue\n"
            "Evidence 3: Flu -> need_medical_test -> Throat {swab}\n"
            "Evidence 4: Anemia -> need_medication -> Iron\n"
            "Evidence 5: Fatigue -> possible_disease -> Anemia\n",
            "Work in steps.",
            "An example, with another graph:",
        )
    ]
    assert places == sorted(places)
    reasoning = _reasoning(("A\nOutput 1: x", "r\n", "B", "", ""), asked=())
    hostile = ask_graph.five_parts(question, reasoning)
    assert "\nEvidence 1: A Output 1: x -> r -> B\n" in hostile


def _drawn(head: str, relation: str, tail: str) -> MapEdge:
    """Return an edge as a model drew it."""
    return MapEdge(head, relation, tail, "model")


_TREE = """
Patient (Evidence 1)
└── has been experiencing
    └── fatigue (Evidence 1)(Evidence 2)
        └── could come from (Evidence 1)
            ├── Anemia (Evidence 1)
            │   ├── needs medication
            │   │   └── Iron (Evidence 4)
            │   └── checked with
            │       └── Blood count (own)
            └── Flu (Evidence 2)
"""
_ROUTE = "Evidence 1('Fatigue'->'possible_disease'->'Anemia') -> result('Anemia')"
_SAID = f"Output 1: You may have anemia.\n\nOutput 2: {_ROUTE}\n\nOutput 3:\n{_TREE}"


@pytest.mark.parametrize(
    "reply",
    [
        _SAID,
        _SAID.replace("Output 1:", "**Output 1:**").replace("Output 3:", "### Output 3: Mind map"),
        _SAID.replace("Output 1:", "输出1：").replace("Output 2:", "输出2：")
        .replace("Output 3:", "输出3（思维导图）："),
        f"<think>Output 1: no</think>{_SAID}",
        _SAID.replace(_TREE, f"\n```text{_TREE}```\n"),
    ],
    ids=["plain", "markdown", "chinese", "reasons aloud", "fenced"],
)  # fmt: skip
def test_a_reply_is_taken_apart_however_dressed(reply: str, reasoning: ReasoningGraph) -> None:
    checker = Checker(reasoning)
    parsed = ask_graph.parse_reply(reply, checker.entities, checker.relations)
    assert parsed.answer == "You may have anemia."
    assert _ROUTE in parsed.inference
    assert parsed.edges == (
        _drawn("Patient", "has been experiencing", "fatigue"),
        _drawn("fatigue", "could come from", "Anemia"),
        _drawn("fatigue", "could come from", "Flu"),
        _drawn("Anemia", "needs medication", "Iron"),
        _drawn("Anemia", "checked with", "Blood count"),
    )


_TWO = [("Fatigue", "possible_disease", "Anemia"), ("Anemia", "need_medication", "Iron")]


@pytest.mark.parametrize(
    "text",
    [
        "Fatigue -> possible_disease -> Anemia -> need_medication -> Iron",
        "1. Fatigue --possible_disease--> Anemia\n2. Anemia --need_medication--> Iron",
        "- Fatigue -[possible_disease]-> Anemia -[need_medication]-> Iron",
        "Fatigue → possible_disease → Anemia\nIron ← need_medication ← Anemia",
        "Fatigue\n├─ possible_disease ─▶ Anemia\n│  └─ need_medication ─▶ Iron",
        "- Fatigue\n  - possible_disease: Anemia\n    - need_medication: Iron",
    ],
    ids=["chain", "labelled", "bullets", "unicode", "as drawn here", "outline"],
)
def test_mind_maps_are_read_in_many_forms(text: str, reasoning: ReasoningGraph) -> None:
    checker = Checker(reasoning)
    edges = ask_graph.read_edges(text, checker.entities, checker.relations)
    assert [(e.head, e.relation, e.tail) for e in edges] == _TWO


@pytest.mark.parametrize("text", ["", "/ \\\n \\ /", "     A\n    / \\\n   B   C", "─" * 99])
def test_what_is_no_mind_map_has_no_edges(text: str) -> None:
    assert ask_graph.read_edges(text) == []


def _lines(mind_map: MindMap) -> list[str]:
    drawn = map_tree(mind_map)
    assert drawn
    return [line.plain for line in tree_lines(drawn, " ")]


def test_a_deep_or_long_mind_map_is_bounded() -> None:
    deep = "\n".join(" " * i + f"node {i}" for i in range(1000))
    edges = ask_graph.read_edges(deep)
    assert 0 < len(edges) <= 500
    wide = ask_graph.read_edges("\n".join(f"a{i} -> r -> b{i}" for i in range(1000)))
    assert len(wide) == 500
    nothing = ReasoningGraph((), (), ())
    checked = tuple(Checker(nothing).check(edges))
    lines = _lines(MindMap("Why?", "g", "", "model", checked, (), nothing))
    assert len(lines) == len(edges) + 1


@pytest.mark.parametrize(
    ("edge", "status", "triples", "note"),
    [
        (("Fatigue", "possible_disease", "Anemia"), "grounded", ("t0",), ""),
        (("FATIGUES", "Possible Disease", "anemia"), "grounded", ("t0",), ""),
        (("tired", "possible_disease", "Anemia"), "grounded", ("t0",), ""),
        (("Anemia", "needs medication", "Iron"), "grounded", ("t3",), ""),
        (("Anemia", "", "Iron"), "grounded", ("t3",), ""),
        (("Iron", "helps against", "Anemia"), "grounded", ("t3",), "in the model's words"),
        # The evidence shows that possible_disease is the inverse of has_symptom.
        (("Dizziness", "possible_disease", "Anemia"), "grounded", ("t2",), "as the inverse of"),
        (("Patient", "suffers from", "Fatigue"), "question", (), "the question says so"),
        (("Anemia", "need_medication", "Dizziness"), "contradicts", ("t2",), "the graph says"),
        (("Iron", "need_medication", "Anemia"), "contradicts", ("t3",), "the other way round"),
        (("Anemia", "does not need", "Iron"), "contradicts", ("t3",), "the graph says"),
        (("Anemia", "need_medication", "Bleach"), "model", (), "holds no 'Bleach'"),
        (("Flu", "need_medication", "Iron"), "model", (), "does not join them"),
    ],
)
def test_each_edge_is_checked(
    reasoning: ReasoningGraph,
    edge: tuple[str, str, str],
    status: str,
    triples: tuple[str, ...],
    note: str,
) -> None:
    (made,) = Checker(reasoning).check([_drawn(*edge)])
    assert (made.head, made.relation, made.tail) == edge
    assert (made.status, made.triples) == (status, triples)
    assert note in made.note
    assert bool(made.note) == bool(note)


def test_relations_that_go_both_ways_do_not_contradict() -> None:
    named = _reasoning(("Ada", "related_to", "Bo", "", ""), asked=("Ada",))
    (made,) = Checker(named).check([_drawn("Bo", "related to", "Ada")])
    assert (made.status, made.triples) == ("grounded", ("t0",))
    seen = _reasoning(
        *((head, "meets", tail, "", "") for head, tail in ("AB", "BA", "CD")), asked=()
    )
    assert [e.status for e in Checker(seen).check([_drawn("D", "meets", "C")])] == ["grounded"]


def test_names_that_were_merged_are_one() -> None:
    graph = _reasoning(("Vaginitis", "needs", "Exam", "", ""), asked=("Vaginitis",))
    merged = ReasoningGraph(
        graph.entities, graph.evidence, graph.triples, merged={"Atrophic vaginitis": "Vaginitis"}
    )
    (made,) = Checker(merged).check([_drawn("atrophic vaginitis", "needs", "exam")])
    assert made.status == "grounded"
    facts = [("Fatigue", "sign_of", "Vaginitis"), ("Itching", "sign_of", "Atrophic vaginitis")]
    asked = ("Fatigue", "Itching")
    two = _reasoning(*((*fact, "Symptom", "Disease") for fact in facts), asked=asked)
    one = ReasoningGraph(two.entities, two.evidence, two.triples, merged=merged.merged)
    assert len(rank_candidates(two)) == 2
    (candidate,) = rank_candidates(one)
    assert [support.entity for support in candidate.support] == ["Fatigue", "Itching"]


def _answer(reasoning: ReasoningGraph, reply: str | None = None, **more: object) -> MindMap:
    write = None if reply is None else lambda prompt, **options: reply
    return answer_from(_QUESTION, "g", reasoning, write=write, **more)  # type: ignore[arg-type]


def test_without_a_model_the_answer_is_the_evidence(reasoning: ReasoningGraph) -> None:
    answer = _answer(reasoning)
    assert answer.by == "evidence"
    first, second = answer.candidates
    assert (first.name, second.name) == ("Anemia", "Flu")
    said = ["Fatigue – possible disease → Anemia", "Dizziness ← has symptom – Anemia"]
    assert [support.text for support in first.support] == said
    assert [(f.phrase, f.names) for f in first.facts] == [("need medication", ("Iron",))]
    assert answer.text.startswith("The evidence points most to Anemia (2 of 2 entities")
    # Nothing is said that no triple says.
    assert answer.carried.share == 1.0
    assert {i for e in answer.edges for i in e.triples} <= {t.id for t in reasoning.triples}
    assert answer.notices == ()


def test_without_evidence_nothing_is_claimed() -> None:
    answer = answer_from("What?", "g", ReasoningGraph((), (), ()))
    assert answer.text == "The graph holds nothing on this question."
    assert (answer.edges, answer.candidates) == ((), ())


def test_candidates_without_types_are_the_fewest_that_touch_the_evidence() -> None:
    facts = [(h, r, t, "", "") for h, r, t, _, _ in _FACTS]
    names = [c.name for c in rank_candidates(_reasoning(*facts, asked=("Fatigue", "Dizziness")))]
    assert names == ["Anemia", "Flu"]
    about = _reasoning(
        ("Flu", "has_symptom", "Fever", "", ""), ("Flu", "lasts", "A week", "", ""), asked=("Flu",)
    )
    (only,) = rank_candidates(about)
    assert only.name == "Flu"
    assert [f.names for f in only.facts] == [("Fever",), ("A week",)]


def test_a_grounded_reply_is_the_answer(reasoning: ReasoningGraph) -> None:
    answer = _answer(reasoning, _SAID)
    assert (answer.by, answer.text) == ("model", "You may have anemia.")
    assert [e.status for e in answer.edges] == ["question", *["grounded"] * 3, "model"]
    assert answer.edges[1].triples == ("t0", "t1")
    measured = answer.carried
    assert (measured.edges, measured.grounded, measured.share) == (4, 3, 0.75)
    assert answer.reply.problem == ""


def test_a_reply_is_cleaned() -> None:
    graph = _reasoning(("http://a.org/A", "is", "B & C", "", ""), asked=("B & C",))
    drawn = "<http://a.org/A> -> \x1b]0;x\x07is -> B & C\x1b[31m\nB & C -> x -> [y](http://e.org)"
    answer = _answer(graph, f"Output 1: \x1b[2JIt <b>is</b> http://e.org.\nOutput 3:\n{drawn}")
    assert (answer.by, answer.text.split()) == ("model", ["It", "is", "(link", "removed)."])
    edges = [(e.head, e.relation, e.tail, e.status) for e in answer.edges]
    assert edges == [("http://a.org/A", "is", "B & C", "grounded"), ("B & C", "x", "y", "model")]


@pytest.mark.parametrize(
    ("reply", "problem", "said"),
    [
        ("", "malformed", "no answer with a mind map"),
        ("<think>Hm", "malformed", "no answer with a mind map"),
        (f"Output 3:\n{_TREE}", "malformed", "no answer with a mind map"),
        ("Output 1: Bleach.\nOutput 3:\nCovid -> treated_by -> Bleach", "ungrounded", "Nothing of"),
        (
            "Output 1: No.\nOutput 3:\nAnemia -> does not need -> Iron\nFlu -> has -> Fatigue",
            "contradicting",
            "Anemia – does not need → Iron (the graph says: Anemia – need medication → Iron)",
        ),
    ],
)
def test_a_reply_that_does_not_hold_gives_way(
    reasoning: ReasoningGraph, reply: str, problem: str, said: str
) -> None:
    answer = _answer(reasoning, reply)
    composed = _answer(reasoning)
    assert (answer.by, answer.reply.problem, answer.reply.text) == ("evidence", problem, reply)
    assert (answer.text, answer.edges) == (composed.text, composed.edges)
    assert said in answer.notices[0]
    assert "composed from the evidence alone" in answer.notices[0]


def test_turns_are_one_question() -> None:
    assert as_question([" I ache. ", "", "And dizzy.", "I ache."]) == "I ache.\nAnd dizzy."
    talk = '[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}, "Dizzy"]'
    assert read_turns(talk) == ["Hi", "Dizzy"]
    assert read_turns("[sic] what?") == ["[sic] what?"]
    with pytest.raises(InputError, match="no text"):
        read_turns("[5]")


def test_the_tree_has_each_entity_once_and_points_there_again(reasoning: ReasoningGraph) -> None:
    answer = _answer(reasoning)
    assert _lines(answer) == [
        "Fatigue  “tired”",
        "├── possible disease →  Anemia",
        "│   └── need medication →  Iron",
        "└── ← has symptom  Flu",
        "    └── need medical test →  Throat {swab}",
        "Dizziness  “dizzy”",
        "└── ← has symptom  Anemia ↑",
    ]
    told = "└── checked with → (the evidence holds no 'Blood count')  Blood count"
    assert f"│   {told}" in _lines(_answer(reasoning, _SAID))


_HOSTILE = '<script>alert("1")</script>]]>"; end\x1b[31m & {{x}} |a| `b`'


def _hostile() -> MindMap:
    graph = _reasoning((_HOSTILE, "r<b>", "B & C", "", ""), asked=("B & C",))
    return answer_from(f"What is {_HOSTILE}?", "g", graph)


def test_pictures_hold_no_markup_of_others() -> None:
    answer = _hostile()
    html = page_of(answer)
    assert '<span class="title" dir="auto">B &amp; C</span>' in html
    assert "<script" not in html
    assert "default-src 'none'" in html
    assert not re.search(r"(?:src|href|url)\s*[=(]", html)
    assert not re.search(r"https?://", html)
    assert "\x1b" not in "".join(_lines(answer))


def test_mermaid_is_escaped_and_marks_what_is_not_grounded(reasoning: ReasoningGraph) -> None:
    drawn = mind_map_mermaid(_answer(reasoning, _SAID).edges)
    assert drawn.startswith('flowchart LR\n  n0["Patient"]\n  n1["fatigue"]\n')
    assert '  n1 -->|"could come from"| n2\n' in drawn
    assert "linkStyle 4 " in drawn
    form = r'flowchart LR|  n\d\["[^"<>{}|`\]]*"\]|  n\d -->\|"[^"<>|]*"\| n\d'
    for line in mind_map_mermaid(_hostile().edges).splitlines():
        assert re.fullmatch(form, line)


def test_evidence_is_described_by_a_model_and_checked(reasoning: ReasoningGraph) -> None:
    model = Scripted(
        [
            "1. Fatigue and dizziness are both symptoms of anemia.",
            # Another entity than the route's, no sentence, and a number of its own.
            "1) Nausea comes from somewhere.\n**3:** Anemia needs iron 40 times.",
        ]
    )
    made = ask_graph.describe(reasoning, _QUESTION, writer(model))
    assert len(model.prompts) == 2
    assert all(_QUESTION in prompt for prompt in model.prompts)
    assert made.routes[0] == "Fatigue and dizziness are both symptoms of anemia."
    assert all("->" in route or "<-" in route for route in made.routes[1:])
    assert f"Evidence 1: {made.routes[0]}\n" in ask_graph.five_parts("?", made)
    assert ask_graph.describe(ReasoningGraph((), (), ()), "?", writer(model)).routes == ()
