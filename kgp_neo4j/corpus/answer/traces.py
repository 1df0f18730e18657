"""Stores the traversals of questions in the graph as traces; replays, lists and removes them."""

import json
import typing
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from kgp_neo4j.corpus.answer.shown_queries import cited_parts, queries_of, shown_passages
from kgp_neo4j.corpus.answer.visits import GIVEN, Visit, to_answer, visits
from kgp_neo4j.corpus.traverse.paths import read_passages
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.open import browser_link
from kgp_neo4j.text.safe import cut
from kgp_neo4j.types.corpus import Answer, ReasoningPath, Step, Trace
from kgp_neo4j.types.errors import ConfigurationError, TraceError, no_corpus
from kgp_neo4j.types.json_records import parts, to_json

#: Fields of an answer that are stored as JSON beside its traversal.
_DETAILS = (
    "sentences", "stated", "type", "structural", "reading", "statements", "usage", "notes",
    "missing", "parts",
)  # fmt: skip
#: Fields of a step that are stored with a visit.
_STEP = ("edge", "reason", "match", "inherited", "judged")
#: The edge of a step whose passage is no longer in the corpus.
GONE = "gone"
_TITLE, _LISTED = 60, 8
#: Words that traces are sought with at most, and characters of one.
_MOST_WORDS, _LONGEST_WORD = 20, 100


@dataclass(frozen=True, slots=True)
class Replay:
    """A stored traversal: the answer, the visits in order, and the titles of those `gone` since."""

    id: str
    asked_at: str
    answer: Answer
    visits: tuple[Visit, ...]
    titles: Mapping[str, str]
    gone: tuple[str, ...] = ()


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
        "id": uuid.uuid4().hex,
        "text": answer.question,
        "title": cut(answer.question, _TITLE),
        "agent": answer.agent,
        "settings": to_json(answer.settings),
        "answer": answer.text,
        "seconds": answer.seconds,
        "details": to_json(parts(answer, *_DETAILS)),
        "passages": visited,
        "titles": [titles.get(passage, "") for passage in visited],
    }
    rows = [
        {
            "passage": v.step.passage,
            "type": "LED_TO_ANSWER" if v.order in on_way else "VISITED",
            "properties": {
                **parts(v.step, *_STEP),
                "order": v.order,
                "step": v.hop,
                "path": list(v.path),
                "rank": v.rank,
                "score": v.step.score,
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
    details, hints = json.loads(question["details"]), typing.get_type_hints(Answer)
    answer = Answer(
        question=question["text"],
        corpus=question["corpus"],
        agent=question["agent"],
        text=question["answer"],
        passages=tuple(replace(passages[v.step.passage], score=v.step.score) for v in there),
        # A deleted step keeps its place in the paths to the retrieved passages.
        paths=tuple(
            ReasoningPath(tuple(steps.get(order, Step("", GONE, 0.0)) for order in visit.path))
            for visit in ranked
            if visit.step.edge != GIVEN
        ),
        seconds=question["seconds"],
        settings=json.loads(question["settings"]),
        trace=key,
        **{
            name: msgspec.convert(details[name], hints[name])
            for name in _DETAILS
            if details.get(name) is not None
        },
    )
    shown = [p for p in shown_passages(answer.paths) if p in passages]
    if answer.type.type == "structural":
        shown = cited_parts(answer.structural)
    answer = replace(answer, browser=browser_link(database.connection, shown))
    if gone:
        from kgp_neo4j.corpus.answer.check import recounted

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
        raise ConfigurationError(
            f"{len(words):,} words are sought, the longest of {longest:,} characters: "
            f"at most {_MOST_WORDS} of {_LONGEST_WORD} are"
        )
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
        more = len(ids) > _LISTED
        raise TraceError(
            f"{'many' if more else len(ids)} traces begin with {trace!r}",
            hint=f"Give more of the id: {', '.join(ids[:_LISTED])}{', ...' if more else ''}.",
        )
    return start if start in ids else ids[0]


def _no_trace(trace: str) -> TraceError:
    return TraceError(
        f"there is no trace {trace!r}",
        hint="`kgp-neo4j history` lists them; `kgp-neo4j ask --trace` stores one.",
    )
