"""Dates and numbers that a graph holds: they restrict the ends of paths, and are compared."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import regex

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.link.name_forms import content_words, spans
from kgp_neo4j.mindmap.stored_graph import StoredGraph
from kgp_neo4j.text.values import Condition, compare, typed
from kgp_neo4j.types.mindmap import Comparison, LinkedEntity, RelationPath, Triple

__all__ = ["compared", "outside", "restrict"]

#: Words round a condition that may say what it is about.
_AROUND = 4


class _Value(NamedTuple):
    """A value of an entity by a relation or property; a property has no triple."""

    entity: str
    relation: str
    text: str
    triple: Triple | None


def _values(graph: StoredGraph, ids: Sequence[str]) -> list[_Value]:
    """Return what may be a date or a number."""
    return [
        _Value(
            row["entity"],
            row["relation"],
            row["value"],
            Triple(**row["edge"]) if row["edge"]["id"] else None,
        )
        for row in graph.read("explore/values", entities=list(ids))
    ]


def _nearest(graph: StoredGraph, relations: Sequence[str], words: Sequence[str]) -> str:
    """Return the relation whose name is nearest to one of the words, or to all of them."""
    if len(relations) < 2 or not words:
        return relations[0]
    texts = [*dict.fromkeys(words), " ".join(words)]
    near = graph.similarity([readable(name) for name in relations], texts)
    return relations[int(near.max(axis=1).argmax())]


def _content(text: str) -> list[str]:
    """Return the words of a text that may name a relation, with order words."""
    words = [word for run in spans(text) for word, _, _ in run]
    return [word for word in words if content_words([word]) and not word[0].isdigit()]


# --- Conditions ---


def outside(
    entities: Sequence[LinkedEntity], question: str, bounds: Sequence[Condition]
) -> tuple[list[LinkedEntity], list[Condition]]:
    """Return the entities and the conditions of a question that are not the same words.

    A number within a longer name is no condition ("in 1990 Ardfin Cup"), and an entity that is the
    number of a condition is none; but "in 1990" may be all that a question names, and is then the
    entity.
    """
    places = {e.surface: (at := question.find(e.surface), at + len(e.surface)) for e in entities}

    def inside(entity: LinkedEntity, bound: Condition) -> bool:
        start, end = places[entity.surface]
        return bound.start <= start and end <= bound.end

    def apart(entity: LinkedEntity, bound: Condition) -> bool:
        start, end = places[entity.surface]
        return start < 0 or end <= bound.start or bound.end <= start

    conditions = [b for b in bounds if all(apart(e, b) or inside(e, b) for e in entities)]
    rest = [e for e in entities if not any(inside(e, b) for b in conditions)]
    if rest or any(bound.operation != "=" for bound in conditions):
        return rest, conditions
    return list(entities), []


def restrict(
    graph: StoredGraph, question: str, path: RelationPath, bounds: Sequence[Condition]
) -> RelationPath:
    """Return a relation path with the ends alone that meet the conditions of a question.

    The relation or property that a condition is about is chosen by the meaning of the words round
    it, among those with values of its unit where there are any. An end of which the graph holds no
    such value is left out; `unknown` counts these.
    """
    ids = list(dict.fromkeys(path.end_of(route)[0] for route in path.routes))
    values = _values(graph, ids)
    unknown: set[str] = set()
    conditions: dict[str, None] = {}
    facts: dict[str, Triple] = {}
    for bound in bounds:
        of_kind = [v for v in values if bound.holds(v.text) is not None]
        same_unit = [v for v in of_kind if typed(v.text).unit == bound.bound.unit]
        known = {v.relation for v in same_unit or of_kind}
        if not known:
            return replace(path, routes=(), ends=0, unknown=len(ids))
        around = _content(question[: bound.start])[-_AROUND:]
        around += _content(question[bound.end :])[:2]
        relation = _nearest(graph, sorted(known), around)
        conditions[f"{readable(relation)} {question[bound.start : bound.end]}"] = None
        by_end: dict[str, list[_Value]] = {end: [] for end in ids}
        for value in values:
            if value.relation == relation and value.entity in by_end:
                by_end[value.entity].append(value)
        met = []
        for end in ids:
            of_end = by_end[end]
            answers = [bound.holds(v.text) for v in of_end]
            if True in answers:
                met.append(end)
                if triple := of_end[answers.index(True)].triple:
                    facts[end] = triple
            elif False not in answers:
                unknown.add(end)
        ids = met
    return replace(
        path.with_ends(ids),
        restricted=", ".join(conditions),
        unknown=len(unknown),
        facts=tuple(facts[end] for end in ids if end in facts),
    )


# --- Comparisons ---

#: Words of order. Those that ask for the earliest date, for the least number, and all others; words
#: of time compare dates where there are any, all others numbers.
_EARLIEST = frozenset("first earlier earliest sooner soonest older oldest elder eldest".split())
_LEAST = frozenset(
    "less least fewer fewest lower lowest smaller smallest shorter shortest lighter lightest "
    "narrower narrowest slower slowest".split()
)
_YOUNGEST = frozenset("younger youngest".split())
_TIME = _EARLIEST | _YOUNGEST | frozenset("later latest last newer newest recent recently".split())
_ORDER = _TIME | _LEAST
_ORDER |= frozenset(
    "more most longer longest larger largest bigger biggest greater greatest higher highest taller "
    "tallest heavier heaviest wider widest deeper deepest faster fastest".split()
)
_JOINS = regex.compile(r"[\s,]*\b(?:and|or)\b\s*(?:the\s+)?", regex.I)
_WHICH = regex.compile(r"\b(?:which|who|what|whose)\b", regex.I)


def compared(
    graph: StoredGraph, question: str, entities: Sequence[LinkedEntity]
) -> Comparison | None:
    """Return the comparison that "which of A and B is older" asks for; None for other questions.

    The options are linked entities that "and" or "or" joins. They are compared by the dates or
    numbers that the graph holds of all of them under one relation or property, the one nearest in
    meaning to what the question says beside their names. `chosen` is empty where it holds none.
    """
    options = _options(question, entities)
    beside = question
    for option in options:
        beside = beside.replace(option.surface, " ")
    order = {word for run in spans(beside) for word, _, _ in run} & _ORDER
    if len(options) < 2 or not order or not _WHICH.search(beside):
        return None
    names = tuple(option.name for option in options)
    #: By relation the first value of each option.
    columns: dict[str, dict[str, _Value]] = {}
    for value in _values(graph, [option.id for option in options]):
        columns.setdefault(value.relation, {}).setdefault(value.entity, value)
    rows = {
        relation: [column[option.id] for option in options]
        for relation, column in sorted(columns.items())
        if len(column) == len(options) and _comparable([value.text for value in column.values()])
    }
    in_time = bool(order & _TIME)
    fitting = [name for name, row in rows.items() if _are_dates(row) == in_time]
    if in_time:
        fitting = fitting or list(rows)  # ages and ranks
    if not fitting:
        return Comparison(names)
    relation = _nearest(graph, fitting, _content(beside))
    chosen = _first(rows[relation], order)
    return Comparison(
        names,
        relation,
        tuple(value.text for value in rows[relation]),
        tuple(names[at] for at in chosen),
        tuple(value.triple for value in rows[relation] if value.triple is not None),
    )


def _comparable(texts: Sequence[str]) -> bool:
    """Return whether all are dates with a year, or numbers of one unit."""
    values = [typed(text) for text in texts]
    if all(value.date and value.date[0] != "-" for value in values):
        return True
    numbers = all(value.type in ("number", "percentage", "currency") for value in values)
    return numbers and len({value.unit for value in values}) == 1


def _are_dates(values: Sequence[_Value]) -> bool:
    return all(typed(value.text).date for value in values)


def _first(values: Sequence[_Value], order: Set[str]) -> list[int]:
    """Return the places of the values that words of order ask for; none where that is unknown."""
    least = bool(order & (_EARLIEST if _are_dates(values) else _YOUNGEST) or order & _LEAST)
    texts = [value.text for value in values]
    best = [0]
    for at in range(1, len(texts)):
        won = compare("min" if least else "max", texts[best[0]], texts[at])
        if won == 1:
            best = [at]
        elif won is None:
            if typed(texts[best[0]]) != typed(texts[at]):
                return []  # 1990 is neither before nor after May 1990
            best.append(at)
    return best


def _options(question: str, entities: Sequence[LinkedEntity]) -> list[LinkedEntity]:
    """Return the linked entities that stand in a row in the question, joined by "and" or "or"."""
    named = [e for e in entities if e.id and e.surface in question]
    named.sort(key=lambda entity: question.index(entity.surface))
    row: dict[str, LinkedEntity] = {}
    for one, other in pairwise(named):
        end = question.index(one.surface) + len(one.surface)
        if _JOINS.fullmatch(question[end : question.index(other.surface)]):
            row |= {one.id: one, other.id: other}
    return list(row.values())
