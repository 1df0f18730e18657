"""The traversal behind an answer: its visits, queries that show it, and traces kept of it."""

import json
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, get_type_hints

import msgspec
import regex

from kgp_neo4j.corpus.traverse.algorithm import read_passages
from kgp_neo4j.graphdb.database import Database, browser_link
from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.text.safe import cut, parts, to_json
from kgp_neo4j.types.corpus import Answer, ReasoningPath, Step, Trace
from kgp_neo4j.types.errors import ConfigurationError, TraceError, no_corpus
from kgp_neo4j.types.tables import ShownQuery, StructuralAnswer

#: Best paths that are shown, few enough for a readable picture.
_MOST_PATHS = 4
#: Settings of a traversal that custom.kgp.retrieve has too, and its maximum of hops.
_SETTINGS = ("budget", "seeds", "branching", "hops")
_MOST_HOPS = 2
#: Fields of an answer that are stored as JSON beside its traversal.
_DETAILS = (
    "sentences", "stated", "type", "structural", "reading", "statements", "usage", "notes",
    "missing", "parts",
)  # fmt: skip
#: Fields of a step that are stored with a visit.
_STEP = ("edge", "reason", "match", "inherited", "judged")
#: The edges of passages given with the question, and of those no longer in the corpus.
_GIVEN, _GONE = "given", "gone"
_TITLE, _LISTED = 60, 8
_NUMBERED = regex.compile(r"\[(\d{1,9})\]")
#: Words that traces are sought with at most, and characters of one.
_MOST_WORDS, _LONGEST_WORD = 20, 100


@dataclass(frozen=True, slots=True)
class Visit:
    """One passage visited: its place in the order, and the visits that led to it.

    Visits are counted from 1, hop by hop and the best first; `path` has their numbers from the seed
    to this one. `rank` is the passage's place among those retrieved, from 1, if a path ends here.
    """

    order: int
    path: tuple[int, ...]
    step: Step
    rank: int | None = None

    @property
    def hop(self) -> int:
        """How many edges lead from the seed to here; 0 for a seed."""
        return len(self.path) - 1

    @property
    def before(self) -> int | None:
        """The number of the visit before this one."""
        return self.path[-2] if len(self.path) > 1 else None


def visits(answer: Answer) -> tuple[Visit, ...]:
    """Return the visits of an answer, in order; passages without a path are `given`."""
    ended = {path.last for path in answer.paths}
    given = [passage for passage in answer.passages if passage.id not in ended]
    ranks = {passage.id: rank for rank, passage in enumerate(answer.passages, 1)}
    paths = [path.steps for path in answer.paths]
    paths += [(Step(passage.id, _GIVEN, passage.score),) for passage in given]
    # A visit is identified by all steps to it; the nearest to the seeds come first.
    deepest = max(map(len, paths), default=0)
    begun = (steps[:n] for n in range(1, deepest + 1) for steps in paths if n <= len(steps))
    visited: dict[tuple[Step, ...], Visit] = {}
    for order, steps in enumerate(dict.fromkeys(begun), 1):
        before = visited[steps[:-1]].path if len(steps) > 1 else ()
        rank = ranks.get(steps[-1].passage) if steps in paths else None
        visited[steps] = Visit(order, (*before, order), steps[-1], rank)
    return tuple(visited.values())


def to_answer(answer: Answer, all_visits: Sequence[Visit]) -> set[int]:
    """Return the numbers of the visits that led to the passages an answer rests on."""
    ends = [v for v in all_visits if v.rank is not None and v.step.passage in answer.rests_on]
    return {order for visit in ends for order in visit.path}


def chosen(
    all_visits: Sequence[Visit], most: int, first: Collection[str] = ()
) -> tuple[list[Visit], int]:
    """Return whole paths, to `first` and then by rank, of `most` visits; count those left out."""
    ends = [visit for visit in all_visits if visit.rank is not None]
    orders: set[int] = set()
    for visit in sorted(ends, key=lambda end: (end.step.passage not in first, end.rank)):
        if len(orders.union(visit.path)) <= most:
            orders.update(visit.path)
    shown = [visit for visit in all_visits if visit.order in orders]
    left = {visit.step.passage for visit in all_visits} - {visit.step.passage for visit in shown}
    return shown, len(left)


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
    if cited := cited_parts(answer.structural):
        queries.append(shown_query("browser/show", nodes=cited))
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


@dataclass(frozen=True, slots=True)
class Replay:
    """A stored traversal: the answer, the visits in order, and the titles of those `gone` since."""

    id: str
    asked_at: str
    answer: Answer
    visits: tuple[Visit, ...]
    titles: Mapping[str, str]
    gone: tuple[str, ...] = ()


def recounted(answer: Answer, marks: Mapping[int, str]) -> Answer:
    """Return an answer with other marks for its passages' numbers: in a model's text, in notes."""

    def anew(text: str) -> str:
        return str(_NUMBERED.sub(lambda found: marks.get(int(found[1]), found[0]), text))

    return replace(
        answer,
        text=anew(answer.text) if answer.by == "model" else answer.text,
        statements=tuple(replace(each, note=anew(each.note)) for each in answer.statements),
        notes=tuple(map(anew, answer.notes)),
    )


def with_trace(database: Database, answer: Answer) -> Answer:
    """Store the traversal of an answer (`store`); return the answer with it and its query."""
    answer = replace(answer, trace=store(database, answer))
    return replace(answer, queries=queries_of(answer))


def store(database: Database, answer: Answer) -> str:
    """Store the traversal of an answer in the graph, in one transaction, and return its id.

    From a node `Question` a relationship `VISITED` leads to each passage visited; it is
    `LED_TO_ANSWER` on the way to what the answer rests on. Raises CorpusError without the corpus.
    """
    all_visits = visits(answer)
    on_way = to_answer(answer, all_visits)
    visited = list(dict.fromkeys(visit.step.passage for visit in all_visits))
    titles = {passage.id: passage.name for passage in answer.passages}
    if unknown := [passage for passage in visited if passage not in titles]:
        titles |= {i: p.name for i, p in read_passages(database, unknown).items()}
    question = {
        **parts(answer, "agent", "seconds"),
        "id": uuid.uuid4().hex,
        "text": answer.question,
        "title": cut(answer.question, _TITLE),
        "settings": to_json(answer.settings),
        "answer": answer.text,
        "details": to_json(parts(answer, *_DETAILS)),
        "passages": visited,
        "titles": [titles.get(passage, "") for passage in visited],
    }
    rows = [
        {
            "passage": v.step.passage,
            "type": "LED_TO_ANSWER" if v.order in on_way else "VISITED",
            "properties": {
                **parts(v.step, *_STEP, "score"),
                **parts(v, "order", "rank"),
                "step": v.hop,
                "path": list(v.path),
                "agent": answer.agent,
            },
        }
        for v in all_visits
    ]
    stored = database.write("trace/store", corpus=answer.corpus, question=question, visits=rows)
    if not stored:
        raise no_corpus(answer.corpus)
    return str(stored[0]["id"])


def explain(database: Database, trace: str) -> Replay:
    """Return a stored traversal, by its id or the first characters of it.

    The answer is the original one, with the passages that are still there; its notes list those
    deleted since. Raises TraceError where there is no such trace, or more than one.
    """
    key = _full_id(database, trace)
    rows = database.read("trace/read", id=key)
    if not rows:
        raise _no_trace(trace)
    question = rows[0]["question"]
    all_visits = []
    for row in rows[0]["visits"]:
        step = Step(row["passage"], **{name: row[name] for name in _STEP if name in row})
        all_visits.append(Visit(row["order"], tuple(row["path"]), step, row.get("rank")))
    existing = {visit.step.passage for visit in all_visits}
    titles = dict(zip(question["passages"], question["titles"], strict=True))
    gone = tuple(title for passage, title in titles.items() if passage not in existing)
    passages = read_passages(database, existing)
    steps = {visit.order: visit.step for visit in all_visits}
    ranked = sorted((v for v in all_visits if v.rank is not None), key=lambda v: v.rank or 0)
    there = [visit for visit in ranked if visit.step.passage in passages]
    details, hints = json.loads(question["details"]), get_type_hints(Answer)
    answer = Answer(
        **{name: question[name] for name in ("corpus", "agent", "seconds")},
        question=question["text"],
        text=question["answer"],
        passages=tuple(replace(passages[v.step.passage], score=v.step.score) for v in there),
        # A deleted step keeps its place in the paths to the retrieved passages.
        paths=tuple(
            ReasoningPath(tuple(steps.get(order, Step("", _GONE, 0.0)) for order in visit.path))
            for visit in ranked
            if visit.step.edge != _GIVEN
        ),
        settings=json.loads(question["settings"]),
        trace=key,
        **{
            name: msgspec.convert(details[name], hints[name])
            for name in _DETAILS
            if details.get(name) is not None
        },
    )
    structural = answer.type.type == "structural"
    there_yet = [p for p in shown_passages(answer.paths) if p in passages]
    shown = cited_parts(answer.structural) if structural else there_yet
    answer = replace(answer, browser=browser_link(database.connection, shown))
    if gone:
        marks = dict.fromkeys(range(1, len(titles) + 1), "[?]")
        marks |= {visit.rank or 0: f"[{at}]" for at, visit in enumerate(there, 1)}
        answer = recounted(answer, marks)
        named = ", ".join(map(repr, gone[:_LISTED])) + (", ..." if len(gone) > _LISTED else "")
        left = f"{len(gone)} of the {len(titles)} passages visited then have left the corpus since"
        answer = replace(answer, notes=(*answer.notes, f"{left}: {named}."))
    answer = replace(answer, queries=queries_of(answer))
    return Replay(key, rows[0]["askedAt"], answer, tuple(all_visits), titles, gone)


def traces(
    database: Database,
    corpus: str | None = None,
    *,
    start: str = "",
    words: Sequence[str] = (),
    limit: int = 1000,
) -> list[Trace]:
    """Return the traces of a corpus, or of all, the latest first.

    Their ids begin with `start`, and their questions and answers have all `words`, in any case.
    Raises ConfigurationError for too many words, or too long ones.
    """
    longest = max(map(len, words), default=0)
    if len(words) > _MOST_WORDS or longest > _LONGEST_WORD:
        sought = f"{len(words):,} words are sought, the longest of {longest:,} characters"
        raise ConfigurationError(f"{sought}: at most {_MOST_WORDS} of {_LONGEST_WORD} are")
    asked = {"corpus": corpus, "start": start, "words": list(words), "limit": limit}
    rows = database.read("trace/list", **asked)
    return [Trace(asked_at=row.pop("askedAt"), **row) for row in rows]


def remove(database: Database, ids: Iterable[str], *, corpus: str | None = None) -> int:
    """Remove the stored traversals of these ids, or their first characters; return how many.

    With `corpus` only those of that one. Raises TraceError, and removes none, for an unknown id.
    """
    whole = [_full_id(database, trace) for trace in ids]
    return int(database.write_in_batches("trace/remove", ids=whole, corpus=corpus)["traces"])


def _full_id(database: Database, trace: str) -> str:
    """Return the only id that begins with these characters."""
    start = trace.strip().lower()
    ids = [t.id for t in traces(database, start=start, limit=_LISTED + 1)] if start else []
    if not ids:
        raise _no_trace(trace)
    if len(ids) > 1 and start not in ids:
        many, more = ("many", ", ...") if len(ids) > _LISTED else (len(ids), "")
        hint = f"Give more of the id: {', '.join(ids[:_LISTED])}{more}."
        raise TraceError(f"{many} traces begin with {trace!r}", hint=hint)
    return start if start in ids else ids[0]


def _no_trace(trace: str) -> TraceError:
    hint = "`kgp-neo4j history` lists them; `kgp-neo4j ask --trace` stores one."
    return TraceError(f"there is no trace {trace!r}", hint=hint)
