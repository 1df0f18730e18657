"""The Cypher that can be run again in Browser: what shows an answer's evidence, as statements."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.types.corpus import Answer, ReasoningPath
from kgp_neo4j.types.tables import ShownQuery

__all__ = ["browser_lines", "cited_parts", "queries_of", "show_trace", "shown_passages"]

#: So many of the best paths make a picture that can be read.
_PATHS = 4
#: What custom.kgp.retrieve takes of a traversal's settings.
_SETTINGS = ("budget", "seeds", "branching", "hops")
#: How many hops it makes at most.
_HOPS = 2


def queries_of(answer: Answer) -> tuple[ShownQuery, ...]:
    """Return the read-only calls that show an answer's evidence again, each with its parameters.

    They show the best passages and the structure cited as a graph, say what joins the passages of
    the best paths, search with the lexical agent inside the database, and replay the trace where
    one was kept. Those that a structural answer was computed by are in `answer.structural`.
    """
    made: list[ShownQuery] = []
    passages = shown_passages(answer.paths) or [p.id for p in answer.passages[:_PATHS]]
    if passages:
        made.append(_shown("browser/show", nodes=passages))
        steps = [step for path in answer.paths[:_PATHS] for step in pairwise(path.steps)]
        pairs = list(dict.fromkeys((a.passage, b.passage) for a, b in steps))
        if pairs:
            made.append(_shown("traverse/path_edges", pairs=[list(pair) for pair in pairs]))
        settings = {k: v for k, v in answer.settings.items() if k in _SETTINGS}
        if "hops" in settings:
            settings["hops"] = min(settings["hops"], _HOPS)
        made.append(
            _shown(
                "browser/retrieve",
                question=answer.question,
                corpus=answer.corpus,
                configuration=settings,
            )
        )
    if parts := cited_parts(answer):
        made.append(_shown("browser/show", nodes=parts))
    if answer.trace:
        made.append(_shown("browser/show_trace", trace=answer.trace))
    return tuple(made)


def shown_passages(paths: tuple[ReasoningPath, ...]) -> list[str]:
    """Return the passages of the best paths: few enough for a picture that can be read."""
    steps = [step.passage for path in paths[:_PATHS] for step in path.steps]
    return list(dict.fromkeys(steps))


def cited_parts(answer: Answer) -> list[str]:
    """Return the tables, else the documents, that a structural answer cites, by id."""
    citations = answer.structural.citations if answer.structural else ()
    return list(dict.fromkeys(c.table or c.document for c in citations))


def browser_lines(query: ShownQuery) -> Iterator[str]:
    """Yield a query as Browser takes it: its parameters, then the statement without its header."""
    for name, value in query.parameters.items():
        yield f":param {name} => {_literal(value)}"
    yield from (line for line in query.cypher.splitlines() if not line.startswith("//"))


def show_trace(trace: str) -> str:
    """Return the call that shows a kept trace, as it is typed into Browser."""
    return statement("browser/show_trace").text.splitlines()[3].replace("$trace", f"'{trace}'")


def _shown(path: str, **parameters: Any) -> ShownQuery:
    made = statement(path)
    return ShownQuery(made.name, made.text, made.bind(parameters))


def _literal(value: Any) -> str:
    """Return a parameter as Cypher writes it; its maps have bare keys."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_literal(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
