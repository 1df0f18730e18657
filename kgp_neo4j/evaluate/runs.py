"""Run files: a JSON line for each question, written as it is answered, and read to be scored."""

import json
import time
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from kgp_neo4j.corpus.pipeline import Retriever
from kgp_neo4j.environment.files import read_values
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.evaluate.scores import Row, Run
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import InputError

_Asked = TypeVar("_Asked", bound=Question)
#: From a question to a line of the run without its id.
Answering = Callable[[_Asked], dict[str, Any]]


def answer_questions(
    questions: Sequence[_Asked], answering: Answering[_Asked], out: Path
) -> list[dict[str, Any]]:
    """Answer every question and write its line at once: id, what `answering` returns, seconds.

    Questions with a complete line in `out` are skipped. Every question has a line: the first
    failure stops the run, and the lines so far stay.
    """
    done: dict[str, dict[str, Any]] = {}
    for line in out.read_text(encoding="utf-8").splitlines() if out.is_file() else ():
        with suppress(KeyError, TypeError, ValueError):  # the line was cut short
            row = json.loads(line)
            done[str(row["id"])] = row
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8") as file, bar("answering", len(questions)) as progress:
        for row in done.values():
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        file.flush()  # the next line may be minutes away
        for question in questions:
            if question.id not in done:
                began = time.perf_counter()
                row = {"id": question.id, **answering(question)}
                row.setdefault("seconds", round(time.perf_counter() - began, 6))
                done[question.id] = row
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                file.flush()
            progress.update()
    return [done[question.id] for question in questions]


def retrieve_questions(
    retriever: Retriever, questions: Sequence[Question], out: Path
) -> list[float]:
    """Retrieve for every question, write a line each at the end; return the seconds of each.

    A line is {"id", "retrieved": [{"title", "text", "score"}, ...], "seconds"}, best passage first.
    Raises InputError where the file cannot be written.
    """

    def retrieved(question: Question) -> dict[str, Any]:
        retrieval = retriever.retrieve(question)
        passages = [
            {"title": p.title, "text": p.text, "score": round(p.score, 6)}
            for p in retrieval.passages
        ]
        return {"retrieved": passages, "seconds": round(retrieval.seconds, 6)}

    part = out.with_name(out.name + ".part")
    try:
        part.unlink(missing_ok=True)
        rows = answer_questions(questions, retrieved, part)
        part.replace(out)
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", where=str(out), hint="Choose another --out."
        ) from error
    return [row["seconds"] for row in rows]


def keep_settings(out: Path, settings: Mapping[str, Any]) -> None:
    """Write the settings of a new folder; raises InputError where it has others."""
    file = out / "settings.json"
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not file.is_file():
            file.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
        elif json.loads(file.read_text(encoding="utf-8")) != json.loads(json.dumps(settings)):
            raise InputError(
                "the folder has an evaluation with other questions or settings",
                where=str(out),
                hint="Choose another --out, or delete the folder.",
            )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no JSON"
        raise InputError(
            f"the settings cannot be kept ({reason})", where=str(file), hint="Choose another --out."
        ) from error


def read_run(
    path: Path, questions: Sequence[_Asked], measured: Callable[[_Asked, Row], dict[str, float]]
) -> Run:
    """Score a run, of this or of another system; what it lacks is `measured` by an empty line.

    A line is {"id", "retrieved": [{"title", "text"}, ...], "answer", "seconds"}. Raises InputError
    for broken lines, ids that stand twice, and ids of no question here.
    """
    rows = read_rows(path, {question.id for question in questions})
    return Run(
        {q.id: measured(q, rows.get(q.id, {})) for q in questions},
        tuple(q.id for q in questions if q.id not in rows),
    )


def read_rows(path: Path, known: Container[str] | None = None) -> dict[str, Row]:
    """Return the lines of a run by their id; with `known`, other ids are refused."""
    rows: dict[str, Row] = {}
    for row, where in read_values(path, "run"):
        if not isinstance(row, dict) or "id" not in row:
            raise InputError("not a line of a run", where=where, hint='It needs an "id".')
        key, retrieved = str(row["id"]), row.get("retrieved", [])
        if key in rows:
            raise InputError(f"the id {key!r} stands twice", where=where)
        if known is not None and key not in known:
            raise InputError(
                f"the id {key!r} is of no question here",
                where=where,
                hint="Score the run against the questions that it was made from.",
            )
        if not isinstance(retrieved, list) or not all(
            isinstance(passage, dict) and "title" in passage for passage in retrieved
        ):
            raise InputError(
                '"retrieved" is no list of passages',
                where=where,
                hint='Give [{"title": ..., "text": ...}, ...], best first.',
            )
        rows[key] = row
    return rows
