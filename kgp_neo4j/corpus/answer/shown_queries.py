"""Returns the Cypher queries that show an answer's evidence in Browser."""

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.types.corpus import Answer, ReasoningPath
from kgp_neo4j.types.tables import ShownQuery, StructuralAnswer

#: Best paths that are shown, few enough for a readable picture.
_MOST_PATHS = 4
#: Settings of a traversal that custom.kgp.retrieve has too, and its maximum of hops.
_SETTINGS = ("budget", "seeds", "branching", "hops")
_MOST_HOPS = 2


def queries_of(answer: Answer) -> tuple[ShownQuery, ...]:
    """Return the queries that show an answer's evidence; `answer.structural` has its own."""
    queries: list[ShownQuery] = []
    passages = shown_passages(answer.paths) or [p.id for p in answer.passages[:_MOST_PATHS]]
    if passages:
        queries.append(shown_query("browser/show", nodes=passages))
        steps = [step for path in answer.paths[:_MOST_PATHS] for step in pairwise(path.steps)]
        if pairs := dict.fromkeys((a.passage, b.passage) for a, b in steps):
            queries.append(shown_query("traverse/path_edges", pairs=list(map(list, pairs))))
        settings = {k: v for k, v in answer.settings.items() if k in _SETTINGS}
        if "hops" in settings:
            settings["hops"] = min(settings["hops"], _MOST_HOPS)
        asked = {"question": answer.question, "corpus": answer.corpus, "configuration": settings}
        queries.append(shown_query("browser/retrieve", **asked))
    if parts := cited_parts(answer.structural):
        queries.append(shown_query("browser/show", nodes=parts))
    if answer.trace:
        queries.append(shown_query("browser/show_trace", trace=answer.trace))
    return tuple(queries)


def shown_passages(paths: tuple[ReasoningPath, ...]) -> list[str]:
    """Return the passages of the best paths, few enough for a readable picture."""
    steps = [step.passage for path in paths[:_MOST_PATHS] for step in path.steps]
    return list(dict.fromkeys(steps))


def cited_parts(structural: StructuralAnswer | None) -> list[str]:
    """Return the tables, else the documents, that a structural answer cites, by id."""
    citations = structural.citations if structural else ()
    return list(dict.fromkeys(c.table or c.document for c in citations))


def browser_lines(query: ShownQuery) -> Iterator[str]:
    """Yield the lines of a query for Browser: parameters, then the statement without its header."""
    for name, value in query.parameters.items():
        yield f":param {name} => {_literal(value)}"
    yield from (line for line in query.cypher.splitlines() if not line.startswith("//"))


def show_trace(trace: str) -> str:
    """Return the call that shows a stored trace in Browser."""
    return statement("browser/show_trace").text.splitlines()[3].replace("$trace", f"'{trace}'")


def shown_query(path: str, **parameters: Any) -> ShownQuery:
    """Return a statement with its parameters, as it is shown."""
    query = statement(path)
    return ShownQuery(query.name, query.text, query.bind(parameters))


def _literal(value: Any) -> str:
    """Return a parameter as a Cypher literal, with maps of unquoted keys."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_literal(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
