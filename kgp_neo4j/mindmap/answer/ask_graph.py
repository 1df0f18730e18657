"""Answers a question over a knowledge graph, with a mind map whose every edge is checked.

The rules of the check are the same for every graph:

- The graph joins the two entities by the named relation: grounded. Where the model names none of
  the graph's relations, any relation between the two grounds the edge.
- The named relation joins them in the other direction only, and is not symmetric: contradicts.
- The graph joins the two by another of its relations: contradicts, unless it is the inverse of the
  named one (the evidence has both between some pair): grounded.
- The edge denies ("does not", 不) a relation that the graph has between the two: contradicts.
- Anything else is the model's own: an edge that the graph lacks is not a contradiction.
"""

import json
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import regex

from kgp_neo4j.environment.configuration import check_question
from kgp_neo4j.graphdb.database import Database, browser_link
from kgp_neo4j.llm.chat import without_reasoning
from kgp_neo4j.mindmap.answer import compose
from kgp_neo4j.mindmap.answer.compose import said
from kgp_neo4j.mindmap.explore.mining import mine
from kgp_neo4j.mindmap.link.name_forms import (
    entity_id,
    is_han,
    key_of,
    readable,
    routes,
    same,
    same_relation,
)
from kgp_neo4j.mindmap.load.graphs import open_graph
from kgp_neo4j.text.safe import is_storable, neutral, plain, printable
from kgp_neo4j.types.corpus import Write
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.mindmap import (
    EvidenceGraph,
    GroundedShare,
    MapEdge,
    MindMap,
    ModelReply,
    ReasoningGraph,
    Status,
    Triple,
)
from kgp_neo4j.types.settings import MiningSettings

#: What the prompts are made of, and the one that describes evidence graphs.
PROMPTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("prompts.toml").read_text("utf-8"))
#: The form of a reply as a grammar (GBNF), for engines that keep to one.
FORM: str = PROMPTS["form"]
_NUMBERED = regex.compile(r"^[^\w\n]*+(\d++)\s*+[.:：、)）]\s*+(\S.*)$", regex.MULTILINE)
_NUMBER = regex.compile(r"\d+(?:\.\d+)?")


def five_parts(question: str, reasoning: ReasoningGraph) -> str:
    """Return the prompt: system instruction, question, evidence, how to think, and an example."""
    evidence = evidence_lines(reasoning) or ["(none was found)"]
    parts = [
        PROMPTS["system"],
        f"Question:\n{question.strip()}",
        "\n".join(["Evidence from the knowledge graph:", *evidence]),
        *said_of_mentions(reasoning),
        PROMPTS["thought"],
        PROMPTS["exemplar"],
        "Your reply:",
    ]
    return "\n\n".join(parts)


def said_of_mentions(reasoning: ReasoningGraph) -> list[str]:
    """Return what the question says of its entities, and what lacks them, for a model."""
    lines = [
        f"Taken as {text} in the question: {plain(', '.join(names))}."
        for status, text in PROMPTS["mentions"].items()
        if (names := [e.name for e in reasoning.entities if e.id and e.status == status])
    ]
    if lacking := reasoning.lacking:
        names = [name for _, name, _ in (*lacking.found, *lacking.unrelated)]
        shown = plain(", ".join(names)) or "none"
        lines.append(f"By the graph, {lacking.total} lack it: {shown}.")
    return lines


def evidence_lines(reasoning: ReasoningGraph) -> list[str]:
    """Return the merged evidence graphs as numbered routes, a line each."""
    lines = reasoning.routes or routes(reasoning.evidence, reasoning.merged)
    return [f"Evidence {number}: {plain(route)}" for number, route in enumerate(lines, 1)]


def describe(reasoning: ReasoningGraph, question: str, write: Write) -> ReasoningGraph:
    """Return a reasoning graph whose routes a model has put into sentences.

    The path-based and the neighbour-based evidence are a call each (MindMap, section 3.2). A
    sentence stays where it names all entities of its route and no number that the route lacks;
    else the route itself stays. What a sentence says of them is not checked.
    """
    lines: list[str] = []
    for kind in ("path", "neighbour"):
        evidence = [each for each in reasoning.evidence if each.kind == kind]
        # A route of its own for each piece of evidence, so that its entities are known.
        numbered = [
            (plain(route), each) for each in evidence for route in routes([each], reasoning.merged)
        ]
        if not numbered:
            continue
        listed = "\n".join(f"{at}. {route}" for at, (route, _) in enumerate(numbered, 1))
        shown = f"Question:\n{question.strip()}\n\n{kind.title()}-based evidence:\n{listed}"
        form = " ".join(rf'"{at}. " [^\n]{{1,300}} "\n"' for at in range(1, len(numbered) + 1))
        reply = write(f"{PROMPTS['describe']}\n{shown}\n\nReply:", grammar=f"root ::= {form}")
        reply = neutral(reply, shown)
        sentences = {int(number): plain(text) for number, text in _NUMBERED.findall(reply)}
        for at, (route, each) in enumerate(numbered, 1):
            sentence = sentences.get(at, "")
            lines.append(sentence if _is_carried(sentence, route, each, reasoning) else route)
    return replace(reasoning, routes=tuple(dict.fromkeys(lines)))


def _is_carried(sentence: str, route: str, evidence: EvidenceGraph, graph: ReasoningGraph) -> bool:
    """Return whether a sentence names the entities of its route, and no number of its own."""
    names = {same(graph.merged.get(x, x)) for t in evidence.triples for x in (t.head, t.tail)}
    named = all(name in same(sentence) for name in names if name in same(route))
    numbers, known = ({*_NUMBER.findall(text)} for text in (sentence, route))
    return bool(sentence) and named and numbers <= known


#: A line such as "Output 1:", "### **Output 3 (mind map):**" or "输出2：": any word and its number.
#: Possessive: a line of nothing but marks would else be tried at each of its places.
_HEADING = regex.compile(
    r"^(?:[^\S\n]|[>#*_`\-])*+(\p{L}++)\s*+([123])[^\S\n]*+"
    r"(?:[(（][^()（）\n]*[)）])?[ *_`]*+(?:[:：][ *_`]*|$)",
    regex.MULTILINE,
)
_FENCE = regex.compile(r"^[^\S\n]*+(?:```|~~~).*$", regex.MULTILINE)


def parse_reply(
    text: str,
    entities: AbstractSet[str] = frozenset(),
    relations: AbstractSet[str] = frozenset(),
    known: str = "",
) -> ModelReply:
    """Parse a reply by its headings, cleaned; nothing in it is checked or used as a template.

    `known` is the text of the question and the evidence, whose addresses may stay.
    """
    parts = _parts(_FENCE.sub("", printable(without_reasoning(text))))
    edges = []
    for edge in read_edges(parts.get("3", ""), entities, relations):
        names = (edge.head, edge.relation, edge.tail)
        head, relation, tail = (plain(neutral(name, known)) for name in names)
        edges.append(MapEdge(head, relation, tail, "model"))
    said = (neutral(parts.get(number, ""), known) for number in "12")
    answer, inference = (part.strip().strip("*").strip() for part in said)
    return ModelReply(text, answer, inference, tuple(edges))


def _parts(text: str) -> dict[str, str]:
    """Split a reply at its headings; without them all of it is the answer."""
    by_word: dict[str, dict[str, regex.Match[str]]] = {}
    for heading in _HEADING.finditer(text):
        # A repeated heading is a line of the part that it is in.
        by_word.setdefault(heading[1].casefold(), {}).setdefault(heading[2], heading)
    # "Evidence 1:" may stand in a part: headings have the word with the most numbers.
    headings = max(by_word.values(), key=len, default={})
    if not headings:
        return {"1": text}
    first, *others = headings.values()
    ends = [*(heading.start() for heading in others), len(text)]
    parts = zip(headings, headings.values(), ends, strict=True)
    return {"1": text[: first.start()]} | {n: text[h.end() : end] for n, h, end in parts}


# --- Trees and arrows ---

#: Longer texts are sentences, not names.
_LONGEST_NAME = 160
_MOST_EDGES = 500
#: What the prompt asks for behind a name: where it is from.
_MARK = regex.compile(r"[(（\[]\s*(?:evidence|证据|own\b)[^()（）\[\]]*[)）\]]", regex.I)
_ARROW = regex.compile(r"(?<!\s)\s*+(?:[-─=—]{1,40}[>▶►]|[→⇒]|<[-─=—]{1,40}(?![>▶])|[←⇐])\s*+")
_BACK = regex.compile(r"[<←⇐]")
#: `-[r]->`, `-- r -->` and `--r-->`, which are read as `-> r ->`.
_LABELLED = regex.compile(
    r"(?:(?<=\s)[-─=]{1,3}|[-─=]{2,3}|[-─=](?=\s*\[))\s*+\[?+\s*+"
    r"([^-─=<>|\[\]()\s]++(?:\s++[^-─=<>|\[\]()\s]++)*+)\s*+\]?+\s*+[-─=]{1,3}[>▶►]"
)
_BRANCH = regex.compile(r"^[\s│├└┬┴┼─|+`\\]*(?:--+\s*|[-*•·]\s+|\d+[.)、]\s*)?")


@dataclass(slots=True)
class _Node:
    """A name as it was written, with the relation before it and what is below it in a tree."""

    name: str
    relation: str = ""
    children: list["_Node"] = field(default_factory=list)


def _name(text: str) -> str:
    """Return a name without marks, quotes, brackets, Markdown and closing punctuation."""
    name, before = " ".join(_MARK.sub(" ", text).split()), ""
    while name != before:
        before = name
        name = name.strip(" \"'`*<>“”‘’「」:：,，;；").removesuffix("。").strip()
        if name.startswith("(") and name.endswith(")") and name.count("(") == 1:
            name = name[1:-1]
    return name[:_LONGEST_NAME]


def read_edges(
    text: str, entities: AbstractSet[str] = frozenset(), relations: AbstractSet[str] = frozenset()
) -> list[MapEdge]:
    """Return the edges of a mind map, each once and none of them checked.

    `entities` and `relations` are the known names, normalised by `same` and `same_relation`: they
    tell relations from entities in trees and chains that mix both.
    """
    reader = _Reader(entities, relations)
    edges: list[MapEdge] = []
    roots: list[_Node] = []
    above: list[tuple[int, _Node]] = []
    for line in text.splitlines():
        line = line.replace("\t", "    ")
        place = len(_BRANCH.match(line)[0])
        rest = line[place:].strip()
        if not regex.search(r"[\p{L}\p{N}]", rest) or len(rest) > 20 * _LONGEST_NAME:
            continue
        split = str(_LABELLED.sub(r" -> \1 -> ", rest))
        if reader.is_chain(split, place):
            edges += reader.chain(split)
        elif len(rest) <= 2 * _LONGEST_NAME and (node := reader.node(rest, place)):
            while above and above[-1][0] >= place:
                above.pop()
            (above[-1][1].children if above else roots).append(node)
            above.append((place, node))
    for root in roots:
        edges += reader.tree(root)
    return list(dict.fromkeys(e for e in edges if same(e.head) != same(e.tail)))[:_MOST_EDGES]


class _Reader:
    """Reads lines into edges, with the names that the evidence has."""

    def __init__(self, entities: AbstractSet[str], relations: AbstractSet[str]) -> None:
        self._entities, self._relations = entities, relations

    def is_chain(self, text: str, place: int) -> bool:
        """Return whether a line is a route of its own, rather than a tree's `relation -> name`."""
        parts = [part for part in _ARROW.split(text) if part.strip()]
        if len(parts) != 2:
            return len(parts) > 2
        first = _name(parts[0])
        is_start = place == 0 and same_relation(first) not in self._relations
        return same(first) in self._entities or is_start

    def chain(self, text: str) -> Iterator[MapEdge]:
        """Yield the edges of `A -> r -> B` and longer ones, in either direction."""
        names = [_name(part) for part in _ARROW.split(text)]
        back = [bool(_BACK.search(arrow)) for arrow in _ARROW.findall(text)]
        if not all(names):
            return
        middle = names[1::2]
        alternates = len(names) % 2 == 1 and (
            any(same_relation(name) in self._relations for name in middle)
            or not any(same(name) in self._entities for name in middle)
        )
        step = 2 if alternates else 1
        for at in range(0, len(names) - step, step):
            ends = names[at], names[at + step]
            head, tail = reversed(ends) if back[at] else ends
            yield MapEdge(head, names[at + 1] if alternates else "", tail, "model")

    def node(self, text: str, place: int) -> _Node | None:
        """Read a line of a tree: a name, `relation -> name` or `relation: name`."""
        bare = _MARK.sub(" ", text).replace("：", ":").strip()
        node = _Node(_name(bare))
        *before, last = [part for part in _ARROW.split(bare) if part.strip()] or [bare]
        first, colon, rest = bare.partition(":")
        if before:
            node = _Node(_name(last), _name(before[-1]))
        elif colon and rest.strip() and same_relation(first) in self._relations:
            node = _Node(_name(rest), _name(first))
        elif place == 0 and bare.endswith(":") and same(node.name) not in self._entities:
            return None  # it introduces what follows
        return node if node.name else None

    def tree(self, root: _Node) -> Iterator[MapEdge]:
        """Yield the edges of a tree, breadth first; relations may have lines of their own."""
        #: A node with the entity above and the relation between them.
        queue: list[tuple[_Node, str, str]] = [(root, "", "")]
        for node, entity, relation in queue:
            is_entity = node.relation or same(node.name) in self._entities
            is_relation = node.children or same_relation(node.name) in self._relations
            if entity and not relation and is_relation and not is_entity:
                queue += [(child, entity, node.name) for child in node.children]
                continue
            if entity:
                yield MapEdge(entity, relation or node.relation, node.name, "model")
            queue += [(child, node.name, "") for child in node.children]


_WORDS = tomllib.loads(Path(__file__).with_name("relations.toml").read_text("utf-8"))
_DENIES = regex.compile(_WORDS["denies"], regex.IGNORECASE | regex.VERBOSE)
_BOTH_WAYS = regex.compile(_WORDS["both_ways"], regex.IGNORECASE | regex.VERBOSE)
_ASKER = frozenset(map(same, _WORDS["asker"]))

_Pair = tuple[str, str]
#: An edge's status, the triples that tell, and why.
_Verdict = tuple[Status, Sequence[Triple], str]


class Checker:
    """Compares edges with the evidence, by normalised names.

    Triples of the graph `beyond` what the model was shown ground an edge too; its note says so.
    """

    def __init__(self, reasoning: ReasoningGraph, beyond: Iterable[Triple] = ()) -> None:
        linked = [entity for entity in reasoning.entities if entity.id]
        # A name that is an entity of its own is no alias.
        own = {same(name) for t in reasoning.triples for name in (t.head, t.tail)}
        self._merged = {same(e.surface): same(e.name) for e in linked if same(e.surface) not in own}
        self._merged |= {same(a): same(b) for a, b in reasoning.merged.items()}
        self._question_keys = {self._key(e.name) for e in linked}
        self._shown = {triple.id for triple in reasoning.triples}
        self._between: defaultdict[_Pair, list[Triple]] = defaultdict(list)
        for triple in {t.id: t for t in (*beyond, *reasoning.triples)}.values():
            self._between[self._key(triple.head), self._key(triple.tail)].append(triple)
        pairs = self._between
        names = {name for pair in pairs for name in pair}
        self.entities = (self._question_keys | self._merged.keys() | names) - {""}
        relations = {pair: {same_relation(t.relation) for t in pairs[pair]} for pair in pairs}
        self.relations: set[str] = set().union(*relations.values())
        self._both_ways = {r for r in self.relations if _BOTH_WAYS.search(r)}
        self._inverses: set[_Pair] = set()
        for (head, tail), forward in relations.items():
            back = relations.get((tail, head), set())
            self._both_ways |= forward & back
            self._inverses |= {(a, b) for a in forward for b in back if a != b}

    def _key(self, name: str) -> str:
        key = same(name)
        return self._merged.get(key, key)

    def check(self, edges: Sequence[MapEdge]) -> tuple[MapEdge, ...]:
        """Return the edges in their order, each with its status and a note."""
        checked = []
        for edge in edges:
            status, triples, note = self._verdict(edge)
            ids = tuple(dict.fromkeys(t.id for t in triples))
            if status == "grounded" and not self._shown.intersection(ids):
                beyond = "the graph says so, beyond the evidence shown"
                note = f"{note}; {beyond}" if note else beyond
            checked.append(replace(edge, status=status, triples=ids, note=note))
        return tuple(checked)

    def _verdict(self, edge: MapEdge) -> _Verdict:
        head, tail = self._key(edge.head), self._key(edge.tail)
        forward = self._between.get((head, tail), [])
        back = self._between.get((tail, head), [])
        joining = [*forward, *back]
        if not joining:
            return self._not_joined(edge, head, tail)
        said = f"the graph says: {_triples_text(joining)}"
        contradiction: _Verdict = ("contradicts", joining, said)
        relation = same_relation(edge.relation)
        if relation not in self.relations:  # in the model's own words, or with no relation at all
            if _DENIES.search(edge.relation):
                return contradiction
            return "grounded", joining, "the relation is in the model's words" if relation else ""
        if exact := [t for t in forward if same_relation(t.relation) == relation]:
            return "grounded", exact, ""
        if turned := [t for t in back if same_relation(t.relation) == relation]:
            if relation in self._both_ways:
                return "grounded", turned, ""
            return "contradicts", turned, f"the other way round: {_triples_text(turned)}"
        if inverse := [t for t in back if (same_relation(t.relation), relation) in self._inverses]:
            return "grounded", inverse, f"as the inverse of: {_triples_text(inverse)}"
        return contradiction

    def _not_joined(self, edge: MapEdge, head: str, tail: str) -> _Verdict:
        asked = self._question_keys
        if (head in _ASKER and tail in asked) or (tail in _ASKER and head in asked):
            return "question", (), "the question says so"
        ends = {edge.head: head, edge.tail: tail}
        missing = [repr(name) for name, key in ends.items() if key not in self.entities]
        if missing:
            return "model", (), f"the evidence holds no {' and no '.join(missing)}"
        return "model", (), "the evidence holds both, but does not join them"


def grounded_share(edges: Sequence[MapEdge]) -> GroundedShare:
    """Return how much of a mind map is grounded, without edges that restate the question."""
    counts = Counter(edge.status for edge in edges)
    return GroundedShare(len(edges) - counts["question"], counts["grounded"], counts["contradicts"])


def _triples_text(triples: Sequence[Triple]) -> str:
    return "; ".join(f"{t.head} – {readable(t.relation)} → {t.tail}" for t in triples[:3])


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
