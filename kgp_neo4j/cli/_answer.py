"""Prints an answer: the sentence, the reasoning paths, the passages, the link."""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter

import click

from kgp_neo4j.cli._structural import print_structural
from kgp_neo4j.records import Answer, Passage, ReasoningPath

__all__ = ["print_answer"]

_WORDS = {
    "SHARES_ENTITY": "by way of",
    "SHARES_KEYWORD": "shares",
    "MENTIONS": "both mention",
    "SIMILAR_ST": "is near",
    "SIMILAR_MDR": "is near",
    "NEXT": "then",
}


def print_answer(answer: Answer, show: int) -> None:
    """Print an answer for a person; `show` passages and paths of it."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    if answer.type.type != "content" or answer.type.by == "option":
        why = f": {answer.type.reason}" if answer.type.reason else ""
        click.echo(f"Question type: {answer.type.type} (by {answer.type.by}{why})")
    if answer.structural is not None:
        print_structural(answer.structural, width)
        if answer.type.type == "structural":
            _end(answer, f"from structure, {answer.seconds:.2f} s")
            return
    if not answer.passages:
        click.echo(f"Nothing in the corpus {answer.corpus!r} matches this question.")
        return
    number = {passage.id: n for n, passage in enumerate(answer.passages, 1)}
    if answer.supporting:
        best = answer.supporting[0]
        _heading("Answer (best supporting sentence)")
        click.echo(_wrapped(f"{best.text} [{number[best.passage]}]", width, "  "))
    shown = answer.passages[:show]
    signals = {path.last: path.steps[-1].signals for path in answer.paths}
    walked = [path for path in answer.paths if len(path.steps) > 1][:show]
    if walked:
        _heading("Reasoning paths")
        titles = {passage.id: passage for passage in answer.passages}
        for path in walked:
            click.echo(_path(path, titles, number))
    _heading(f"Passages ({len(shown)} of {len(answer.passages)}, best first)")
    for passage in shown:
        where = f"passage {passage.position + 1}, characters {passage.start}-{passage.end}"
        click.echo(
            f"  [{number[passage.id]}] {click.style(passage.title, bold=True)}  "
            f"{passage.score:.2f}  {click.style(where, dim=True)}"
        )
        if signals.get(passage.id):
            click.echo(click.style(_wrapped(signals[passage.id], width, "      "), dim=True))
        text = " ".join(passage.text.split())
        click.echo(_wrapped(textwrap.shorten(text, 400, placeholder=" …"), width, "      "))
    click.echo()
    click.echo(click.style(_reached(answer), dim=True))
    _end(answer, f"{len(answer.passages)} passages, agent {answer.agent}, {answer.seconds:.2f} s")


def _end(answer: Answer, summary: str) -> None:
    click.echo(click.style(summary, dim=True))
    if answer.browser:
        click.echo(f"See it in Neo4j Browser: {answer.browser}")
        click.echo("  (user neo4j; `kgp-neo4j server open --show-password` shows the password)")


def _reached(answer: Answer) -> str:
    """Say over which kinds of edges the passages were reached, the commonest first."""
    counts = Counter(path.steps[-1].edge for path in answer.paths).most_common()
    said = (f"{n} as a seed" if edge == "seed" else f"{n} over {edge}" for edge, n in counts)
    return "Reached: " + ", ".join(said)


def _heading(text: str) -> None:
    click.echo("\n" + click.style(text, fg="cyan", bold=True))


def _wrapped(text: str, width: int, indent: str) -> str:
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)


def _path(path: ReasoningPath, passages: dict[str, Passage], number: dict[str, int]) -> str:
    """Write one path: seed, then each edge with its reason and the passage it leads to."""
    lines: list[str] = []
    for depth, step in enumerate(path.steps):
        passage = passages.get(step.passage)
        name = f"{passage.title} [{number[step.passage]}]" if passage else step.passage
        if depth == 0:
            lines.append(f"  {name}  {click.style(f'found by {step.reason}', dim=True)}")
            continue
        reason = f"{_WORDS.get(step.edge, step.edge)} {step.reason}".strip()
        edge = click.style(reason, fg="magenta")
        lines.append(f"  {'   ' * (depth - 1)}└─ {edge} ─▶ {name}  {step.score:.2f}")
    return "\n".join(lines)
