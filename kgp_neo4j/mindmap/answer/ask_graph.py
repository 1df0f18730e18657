"""Answers a question over a knowledge graph, with a checked mind map."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgp_neo4j.environment.configuration import check_question
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.open import browser_link
from kgp_neo4j.mindmap.answer import compose
from kgp_neo4j.mindmap.answer.check_map import Checker, grounded_share
from kgp_neo4j.mindmap.answer.compose import said
from kgp_neo4j.mindmap.answer.map_prompt import FORM, describe, evidence_lines, five_parts
from kgp_neo4j.mindmap.answer.map_reply import parse_reply
from kgp_neo4j.mindmap.explore.mining import mine
from kgp_neo4j.mindmap.link.name_forms import is_han
from kgp_neo4j.mindmap.load.graph_names import entity_id, key_of
from kgp_neo4j.mindmap.load.graphs import open_graph
from kgp_neo4j.text.safe import is_storable, plain
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.language import Write
from kgp_neo4j.types.mindmap import MindMap, ReasoningGraph, Triple
from kgp_neo4j.types.settings import MiningSettings

#: Roles whose turns are answers, not questions.
_ANSWERING_ROLES = frozenset({"assistant", "doctor", "system", "bot", "ai", "医生", "助手"})
_TURNS_HINT = 'Give texts, or {"role": ..., "content": ...} objects, in one JSON list.'
#: Entities that a link into Browser shows: few enough for a readable picture.
_BROWSER_LIMIT = 60


def as_question(turns: Sequence[str]) -> str:
    """Join the turns of a dialogue into one question, a line each; drop empty and repeated ones."""
    return "\n".join(dict.fromkeys(turn.strip() for turn in turns if turn.strip()))


def read_turns(text: str, where: str = "the question") -> list[str]:
    """Return the user's turns in a JSON list (InputError for another), or any other text as one."""
    try:
        turns = json.loads(text) if text.lstrip().startswith("[") else [text]
    except (ValueError, RecursionError):
        turns = [text]  # a question may begin with a bracket
    texts = []
    for turn in turns:
        content = turn.get("content", turn.get("text")) if isinstance(turn, dict) else turn
        if not isinstance(content, str):
            raise InputError("a turn of the dialogue is no text", where=where, hint=_TURNS_HINT)
        if content and (not isinstance(turn, dict) or is_of_asker(turn)):
            texts.append(content)
    return texts


def is_of_asker(turn: Mapping[str, Any]) -> bool:
    """Return whether a turn's `role` or `speaker` is the one who asks; a turn without one is."""
    role = str(turn.get("role", turn.get("speaker", "user"))).strip().lower()
    return role not in _ANSWERING_ROLES


def ask_graph(
    database: Database,
    graph: str,
    question: str,
    *,
    settings: MiningSettings | None = None,
    write: Write | None = None,
) -> MindMap:
    """Answer a question over a knowledge graph: mine evidence, answer, check (MindMap, section 3).

    `write` is a language model, asked once for the question's entities, once for the answer, and
    with the settings' `aggregation` "llm" twice to describe the evidence; without one, or where its
    reply is empty, malformed, ungrounded or contradicts the graph, the answer is composed from the
    evidence alone, and a notice says so. Raises ConfigurationError for an empty question,
    GraphError without the graph.
    """
    if not question.strip():
        raise ConfigurationError("the question is empty", hint="Ask something.")
    check_question(question)
    began = time.perf_counter()
    stored, settings = open_graph(database, graph), settings or MiningSettings()
    by_model = settings.aggregation == "llm"
    if by_model and write is None:
        what = "evidence is described by a language model only"
        raise ConfigurationError(what, hint="Name one: --llm NAME.")
    reasoning = mine(stored, question, settings, write)
    if by_model and write is not None:
        reasoning = describe(reasoning, question, write)

    def between(names: Sequence[str]) -> list[Triple]:
        ids = sorted({entity_id(graph, key_of(name)) for name in names if is_storable(name)})
        rows = stored.read("explore/between", entities=ids, others=ids)
        return [Triple(**row["edge"]) for row in sorted(rows, key=lambda row: row["edge"]["id"])]

    answer = answer_from(question, graph, reasoning, write=write, between=between)
    drawn = {i for edge in answer.edges for i in edge.triples}
    triples = [t for t in reasoning.triples if t.id in drawn] or reasoning.triples
    ids = dict.fromkeys(i for t in triples for i in (t.head_id, t.tail_id))
    browser = browser_link(database.connection, list(ids)[:_BROWSER_LIMIT])
    return replace(answer, browser=browser, seconds=time.perf_counter() - began)


def answer_from(
    question: str,
    graph: str,
    reasoning: ReasoningGraph,
    *,
    write: Write | None = None,
    between: Callable[[Sequence[str]], Sequence[Triple]] = lambda names: (),
) -> MindMap:
    """Answer from a reasoning graph; `between` returns the whole graph's triples between names."""
    candidates = compose.rank_candidates(reasoning)
    edges = compose.composed_edges(candidates, reasoning)
    text = compose.composed_text(question, reasoning, candidates)
    if by_path := compose.answer_by_path(question, reasoning, candidates):
        text, edges = by_path[0], by_path[1] or edges
    chinese = is_han(question)
    told: dict[str, list[str]] = {}
    for entity in (e for e in reasoning.entities if e.id):
        if entity.by == "spelling":
            told.setdefault("spelling", []).append(f"{entity.surface} → {entity.name}")
        if entity.status != "present":
            told.setdefault(entity.status, []).append(entity.name)
    notices = tuple(said(kind, chinese, "; ".join(names)) for kind, names in told.items())
    answer = MindMap(question, graph, text, "evidence", edges, candidates, reasoning)
    answer = replace(answer, notices=notices, carried=grounded_share(edges))
    if write is not None:
        return _from_model(answer, write(five_parts(question, reasoning), grammar=FORM), between)
    return answer


def _from_model(
    composed: MindMap, raw: str, between: Callable[[Sequence[str]], Sequence[Triple]]
) -> MindMap:
    """Return the model's answer if its mind map passes the check, else the composed one."""
    checker = Checker(composed.reasoning)
    known = "\n".join((composed.question, *evidence_lines(composed.reasoning)))
    reply = parse_reply(raw, checker.entities, checker.relations, known)
    if reply.edges:
        names = dict.fromkeys(name for edge in reply.edges for name in (edge.head, edge.tail))
        checker = Checker(composed.reasoning, between(list(names)))
    edges = checker.check(reply.edges)
    share = grounded_share(edges)
    problem = ""
    if reply.answer and share.contradicted:
        problem = "contradicting"
    elif not reply.answer or not share.edges:
        problem = "malformed"
    elif not share.grounded:
        problem = "ungrounded"
    composed = replace(composed, reply=replace(reply, edges=edges, problem=problem))
    if problem:
        chinese = is_han(composed.question)
        wrong = [edge for edge in edges if edge.status == "contradicts"][:3]
        told = "; ".join(plain(f"{e.head} – {e.relation} → {e.tail} ({e.note})") for e in wrong)
        notice = said("composed", chinese, said(problem, chinese))
        notice += said("contradicted", chinese, told) if wrong else ""
        return replace(composed, notices=(*composed.notices, notice))
    answer = replace(composed, by="model", text=reply.answer, inference=reply.inference)
    return replace(answer, edges=edges, carried=share)
