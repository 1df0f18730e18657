"""Answers a question over a knowledge graph, with a checked mind map."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import regex

from kgp_neo4j.environment.question import check_question
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.links import browser_link
from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.answer.check_map import Checker, grounded_share
from kgp_neo4j.mindmap.answer.compose import (
    composed_edges,
    composed_text,
    rank_candidates,
    with_merged_names,
)
from kgp_neo4j.mindmap.answer.describe import describe
from kgp_neo4j.mindmap.answer.map_prompt import five_parts
from kgp_neo4j.mindmap.answer.map_reply import parse_reply
from kgp_neo4j.mindmap.answer.options import (
    best_option,
    checked_options,
    read_choice,
    score_options,
)
from kgp_neo4j.mindmap.answer.outline_reply import RawEdge
from kgp_neo4j.mindmap.answer.path_answer import answer_by_path
from kgp_neo4j.mindmap.answer.same_names import is_chinese
from kgp_neo4j.mindmap.explore.mining import mine
from kgp_neo4j.mindmap.load.graph_names import key_of
from kgp_neo4j.text.safe import is_storable, plain
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.mindmap import (
    GroundedShare,
    MindMap,
    ModelReply,
    OptionScore,
    ReasoningGraph,
    Triple,
)
from kgp_neo4j.types.settings import MiningSettings

__all__ = [
    "NOT_ADVICE",
    "NOT_ADVICE_ZH",
    "answer_from",
    "as_question",
    "ask_graph",
    "is_medical",
    "is_of_asker",
    "medical_notice",
    "read_turns",
]

#: Roles whose turns are answers, not questions.
_ANSWERING_ROLES = frozenset({"assistant", "doctor", "system", "bot", "ai", "医生", "助手"})
_TURNS_HINT = 'Give texts, or {"role": ..., "content": ...} objects, in one JSON list.'


def as_question(turns: Sequence[str]) -> str:
    """Join the turns of a dialogue into one question, a line each; drop empty and repeated ones."""
    return "\n".join(dict.fromkeys(turn.strip() for turn in turns if turn.strip()))


def read_turns(text: str, where: str = "the question") -> list[str]:
    """Return the user's turns in a JSON list of texts or messages; any other text is one turn.

    Raises InputError for a JSON list of anything else.
    """
    if not text.lstrip().startswith("["):
        return [text]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [text]  # a question may begin with a bracket
    turns = [_turn(row, where) for row in value]
    return [turn for turn in turns if turn]


def _turn(row: Any, where: str) -> str:
    if isinstance(row, str):
        return row
    content = row.get("content", row.get("text")) if isinstance(row, dict) else None
    if not isinstance(content, str):
        raise InputError("a turn of the dialogue is no text", where=where, hint=_TURNS_HINT)
    return content if is_of_asker(row) else ""


def is_of_asker(turn: Mapping[str, Any]) -> bool:
    """Return whether a turn's `role` or `speaker` is the one who asks; a turn without one is."""
    role = str(turn.get("role", turn.get("speaker", "user"))).strip().lower()
    return role not in _ANSWERING_ROLES


# --- Medical questions ---

NOT_ADVICE = (
    "This is no medical advice: it shows what a knowledge graph holds, which may be wrong or "
    "incomplete. Ask a doctor."
)
NOT_ADVICE_ZH = "这不是医疗建议：以上只是知识图谱中的内容，可能有误或不完整，请咨询医生。"
_MEDICAL = regex.compile(
    r"\b(?:symptoms?|diseases?|disorders?|drugs?|medications?|medicines?|medical|diagnos\w+|"
    r"treat(?:s|ed|ment)?|therap\w+|patients?|doctors?|clinic\w*|syndromes?|dos(?:e|age)|cures?|"
    r"pain|infection|surgery|prescri\w+|side effects?|vaccin\w+|pharma\w+)\b"
    r"|症状|症|疾病|病|药|检查|治疗|手术|患者|医|疗|疼|痛|诊",
    regex.IGNORECASE,
)


def is_medical(reasoning: ReasoningGraph, question: str) -> bool:
    """Return whether a relation, a type or the question has a medical word."""
    texts = {readable(t.relation) for t in reasoning.triples}
    texts |= {x for t in reasoning.triples for x in (t.head_type, t.tail_type)}
    return any(_MEDICAL.search(text) for text in (*texts, question))


def medical_notice(question: str) -> str:
    """Return the notice in the language of the question."""
    return NOT_ADVICE_ZH if is_chinese(question) else NOT_ADVICE


# --- The answer ---

#: Entities that a link into Browser shows: few enough for a readable picture.
_BROWSER_LIMIT = 60
_PROBLEMS = {
    "empty": "The model gave no reply",
    "malformed": "The model's reply holds no answer with a mind map",
    "ungrounded": "Nothing of the model's mind map is carried by the evidence",
    "contradicting": "The model's mind map contradicts the graph",
}
_PROBLEMS_ZH = {
    "empty": "模型没有给出回答",
    "malformed": "模型的回答中没有可读的答案和思维导图",
    "ungrounded": "模型的思维导图没有任何证据支持",
    "contradicting": "模型的思维导图与知识图谱相矛盾",
}


def ask_graph(
    database: Database,
    graph: str,
    question: str,
    *,
    settings: MiningSettings | None = None,
    options: Mapping[str, str] | None = None,
    write: Callable[[str], str] | None = None,
) -> MindMap:
    """Answer a question over a knowledge graph: mine evidence, answer, check (MindMap, section 3).

    `write` is a language model, asked once for the question's entities and once for the answer, and
    with `relevance` or `aggregation` "llm" once to judge neighbours or twice to describe evidence;
    without one, or where its reply is empty, malformed, ungrounded or contradicts the graph, the
    answer is composed from the evidence alone, and a notice says so. `options` are a multiple
    choice question's, by label. Raises ConfigurationError for an empty question and for a step that
    needs a model where there is none.
    """
    if not question.strip():
        raise ConfigurationError("the question is empty", hint="Ask something.")
    check_question(question)
    given = checked_options(options or {})
    began = time.perf_counter()
    chosen = settings or MiningSettings()
    if write is None and "llm" in (chosen.relevance, chosen.aggregation):
        raise ConfigurationError(
            "relevance and aggregation by a language model need one",
            hint="Give a model (--llm NAME), or leave both as they are by default.",
        )
    reasoning = mine(database, graph, question, chosen, write)
    if write is not None and chosen.aggregation == "llm":
        reasoning = describe(reasoning, question, write)
    scores = score_options(database, graph, reasoning, given, question) if given else ()
    answer = answer_from(
        question,
        graph,
        reasoning,
        scores,
        write=write,
        beyond=lambda names: _beyond(database, graph, names),
    )
    return replace(
        answer,
        browser=browser_link(database.connection, _shown_ids(answer)),
        seconds=time.perf_counter() - began,
    )


def _beyond(database: Database, graph: str, names: Sequence[str]) -> list[Triple]:
    """Return the graph's triples between entities of these names, shown to the model or not."""
    keys = sorted({key_of(name) for name in names if is_storable(name)})
    rows = database.read("mindmap/between", keys=keys, graph=graph) if keys else []
    return [Triple(**row) for row in rows]


def _shown_ids(answer: MindMap) -> list[str]:
    """Return the ids of the entities in the mind map, else of those in the evidence."""
    drawn = {i for edge in answer.edges for i in edge.triples}
    triples = answer.reasoning.triples
    chosen = [t for t in triples if t.id in drawn] or list(triples)
    ids = dict.fromkeys(i for t in chosen for i in (t.head_id, t.tail_id) if i)
    return list(ids)[:_BROWSER_LIMIT]


def answer_from(
    question: str,
    graph: str,
    reasoning: ReasoningGraph,
    options: Sequence[OptionScore] = (),
    *,
    write: Callable[[str], str] | None = None,
    beyond: Callable[[Sequence[str]], Sequence[Triple]] = lambda names: (),
) -> MindMap:
    """Answer from a reasoning graph; `beyond` returns the whole graph's triples between names."""
    medical = is_medical(reasoning, question)
    composed = _composed(question, graph, reasoning, options)
    if write is None:
        answer = composed
    else:
        texts = {option.label: option.text for option in options}
        prompt = five_parts(question, reasoning, options=texts, medical=medical)
        answer = _from_model(composed, write(prompt), beyond)
    notices = [*answer.notices]
    if medical:
        notices.append(medical_notice(question))
    return replace(answer, notices=tuple(notices))


def _composed(
    question: str, graph: str, reasoning: ReasoningGraph, options: Sequence[OptionScore]
) -> MindMap:
    """Compose the answer from the evidence alone, without a model."""
    candidates = rank_candidates(reasoning)
    edges = composed_edges(candidates, with_merged_names(reasoning))
    chinese = is_chinese(question)
    notices: list[str] = []
    text = composed_text(question, reasoning, candidates)
    if not text:
        nothing = "知识图谱中没有与问题相关的内容。"
        text = nothing if chinese else "The graph holds nothing on this question."
    by_path = None
    if not (chinese or options or is_medical(reasoning, question)):
        by_path = answer_by_path(question, reasoning)
    if by_path:
        text, edges = by_path.text, by_path.edges or edges
    choice, supported, ties = best_option(options, question)
    if choice:
        chosen = next(option for option in options if option.label == choice)
        notices += _choice_notices(supported, ties, chinese)
        why = chosen.routes[0] if chosen.routes else ""
        head = f"{choice}: {chosen.text}"
        if not supported:
            head = f"（猜测，没有证据）{head}" if chinese else f"(a guess, without evidence) {head}"
        text = "\n".join(part for part in (head, why, "", text) if part or part == "")
    return MindMap(
        question=question,
        graph=graph,
        text=text.strip(),
        by="evidence",
        edges=edges,
        candidates=candidates,
        reasoning=reasoning,
        options=tuple(options),
        choice=choice,
        supported=supported,
        notices=tuple(notices),
        carried=grounded_share(edges, Checker(reasoning)),
    )


def _choice_notices(supported: bool, ties: Sequence[str], chinese: bool) -> list[str]:
    if not supported:
        return [
            "证据不能区分各选项，所选项只是猜测。"
            if chinese
            else "The evidence does not tell the options apart: the choice is a guess."
        ]
    if ties:
        labels = ", ".join(ties)
        return [
            f"选项 {labels} 的证据相同。"
            if chinese
            else f"The options {labels} have the same evidence."
        ]
    return []


# --- With a model ---


def _from_model(
    composed: MindMap, raw: str, beyond: Callable[[Sequence[str]], Sequence[Triple]]
) -> MindMap:
    """Return the model's answer if its mind map passes the check, else the composed one."""
    reasoning = composed.reasoning
    checker = Checker(reasoning)
    parsed = parse_reply(raw, checker.entities, checker.relations)
    if parsed.edges:
        checker = Checker(reasoning, beyond(_names(parsed.edges)))
    edges = checker.check(parsed.edges)
    measured = grounded_share(edges, checker)
    problem = _problem(raw, parsed.answer, measured)
    reply = ModelReply(raw, parsed.answer, parsed.inference, edges, problem)
    choice = read_choice(parsed.answer, {o.label: o.text for o in composed.options})
    if composed.options and not choice and not problem:
        problem = "malformed"
        reply = replace(reply, problem=problem)
    if problem:
        return replace(
            composed, reply=reply, notices=(_fallback_notice(composed, reply), *composed.notices)
        )
    notices: tuple[str, ...] = ()
    supported = False
    if choice:
        supported = next(o for o in composed.options if o.label == choice).score > 0
        if composed.choice != choice and composed.supported:
            notices = (_disagreement_notice(composed, choice),)
    return replace(
        composed,
        text=parsed.answer,
        by="model",
        edges=edges,
        inference=parsed.inference,
        choice=choice,
        supported=supported,
        notices=notices,
        carried=measured,
        reply=reply,
    )


def _names(edges: Sequence[RawEdge]) -> list[str]:
    return list(dict.fromkeys(name for edge in edges for name in (edge.head, edge.tail)))


def _problem(raw: str, answer: str, measured: GroundedShare) -> str:
    if not raw.strip():
        return "empty"
    if not answer:
        return "malformed"
    if measured.contradicted:
        return "contradicting"
    if not measured.edges:
        return "malformed"
    return "" if measured.grounded else "ungrounded"


def _fallback_notice(composed: MindMap, reply: ModelReply) -> str:
    wrong = [edge for edge in reply.edges if edge.status == "contradicts"]
    contradictions = "; ".join(
        plain(f"{e.head} – {e.relation} → {e.tail} ({e.note})") for e in wrong[:3]
    )
    if is_chinese(composed.question):
        text = f"{_PROBLEMS_ZH[reply.problem]}；以下答案只根据证据得出。"
        return f"{text}（{contradictions}）" if contradictions else text
    text = f"{_PROBLEMS[reply.problem]}; this answer is composed from the evidence alone."
    return f"{text} Contradicted: {contradictions}." if contradictions else text


def _disagreement_notice(composed: MindMap, choice: str) -> str:
    if is_chinese(composed.question):
        return f"按证据计分应选 {composed.choice}，模型选择了 {choice}。"
    return f"By the evidence the choice would be {composed.choice}; the model chose {choice}."
