"""Judge answers over a knowledge graph by a language model: pairs, ranks (MindMap, Tables 2 to 5).

A pair is judged on each of the paper's four axes, in both orders of the answers; verdicts that
disagree are a tie. Every verdict is kept in a file at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.load.ids import text_hash
from kgp_neo4j.evaluate.answers import answer_questions
from kgp_neo4j.evaluate.graph_questions import GraphQuestion
from kgp_neo4j.evaluate.mindmap import AXES, Verdict, bert_score, judge_pair, judge_ranks, tally
from kgp_neo4j.evaluate.scores import Row, Run
from kgp_neo4j.types.corpus import Question

__all__ = ["Pairs", "add_bert_scores", "judge_methods"]

#: Wins, ties and losses in per cent of the first method, by the other method and the axis.
Pairs = dict[str, dict[str, dict[str, float]]]


def judge_methods(
    write: Callable[[str], str],
    questions: Sequence[GraphQuestion],
    lines: Mapping[str, Mapping[str, Row]],
    runs: dict[str, Run],
    out: Path,
) -> Pairs:
    """Return how the first method's answers do against each other one's, and add `mean rank` to
    every run. A question without a reference is not judged; a missing answer is an empty one.
    """
    references = {asked.id: asked.reference or ", ".join(asked.answers) for asked in questions}
    judged = [asked.question for asked in questions if references[asked.id]]
    texts = {
        method: {q.id: str(rows.get(q.id, {}).get("answer") or "") for q in judged}
        for method, rows in lines.items()
    }
    first, *others = texts
    made: Pairs = {}
    for other in others:

        def compared(question: Question, other: str = other) -> dict[str, Any]:
            both = texts[first][question.id], texts[other][question.id]
            told = references[question.id]
            verdicts = {a: judge_pair(write, question.text, told, *both, a) for a in AXES}
            return {axis: [verdict.result, verdict.agreed] for axis, verdict in verdicts.items()}

        file = out / f"pairs-{_mark(first, other)}.jsonl"
        rows = answer_questions(judged, compared, file, resume=True)
        made[other] = {axis: tally(Verdict(*row[axis]) for row in rows) for axis in AXES}

    def ranked(question: Question) -> dict[str, Any]:
        answers = {method: said[question.id] for method, said in texts.items()}
        return {"ranks": judge_ranks(write, question.text, references[question.id], answers)}

    if others:
        file = out / f"ranks-{_mark(*texts)}.jsonl"
        ranks = answer_questions(judged, ranked, file, resume=True)
        for method in texts:
            values = {row["id"]: row["ranks"].get(method) for row in ranks}
            _add(runs, method, {"mean rank": values})
    return made


def add_bert_scores(
    folder: Path,
    questions: Sequence[GraphQuestion],
    lines: Mapping[str, Mapping[str, Row]],
    runs: dict[str, Run],
) -> None:
    """Add BERTScore by the checkpoint in a folder to every run, of questions with a reference.

    Raises ConfigurationError without the package, ModelError where there is no checkpoint.
    """
    referred = [asked for asked in questions if asked.reference]
    for method, rows in lines.items():
        said = [str(rows.get(asked.id, {}).get("answer") or "") for asked in referred]
        scores = bert_score(said, [asked.reference for asked in referred], folder)
        ids = [asked.id for asked in referred]
        for at, part in enumerate(("P", "R", "F1")):
            values = {key: score[at] for key, score in zip(ids, scores, strict=True)}
            _add(runs, method, {f"BERTScore {part}": values})


def _add(
    runs: dict[str, Run], method: str, measured: Mapping[str, Mapping[str, float | None]]
) -> None:
    """Add measures of some questions to a run; None is no measure."""
    for name, values in measured.items():
        measures = {
            key: row | {name: value} if (value := values.get(key)) is not None else row
            for key, row in runs[method].measures.items()
        }
        runs[method] = replace(runs[method], measures=measures)


def _mark(*methods: str) -> str:
    """Return a short mark of methods, so that verdicts on others are never taken for these."""
    return text_hash("\n".join(methods))[:8]
