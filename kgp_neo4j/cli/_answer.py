"""Prints an answer: what is said and by whom, the reasoning paths, the passages, the link."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from kgp_neo4j.cli._language import opened_model
from kgp_neo4j.cli._output import say
from kgp_neo4j.cli._structural import print_structural
from kgp_neo4j.printable import plain
from kgp_neo4j.records import Answer, Passage, ReasoningPath, SupportingSentence

if TYPE_CHECKING:
    from kgp_neo4j.language import LanguageModel, Usage

__all__ = [
    "answering_model",
    "by_whom",
    "print_answer",
    "print_paths",
    "print_said",
    "say_unconnected",
    "written",
]

#: From here on an answer is more often right than wrong.
_SURE = 0.5
_WORDS = {
    "SHARES_ENTITY": "by way of",
    "SHARES_KEYWORD": "shares",
    "MENTIONS": "both mention",
    "SIMILAR_ST": "is near",
    "SIMILAR_MDR": "is near",
    "NEXT": "then",
}


def answering_model(
    llm: str | None, agent: str | None, model: str | None, chat_url: str | None
) -> LanguageModel | None:
    """Open the language model that answers: `--llm`, that of `--agent chat`, or as configured."""
    return opened_model(llm or (model if agent == "chat" else None), chat_url)


@contextmanager
def written(quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """Show a reply on the terminal while it is written, unchecked; nothing where there is none."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from kgp_neo4j.answer.prompting import Stream

    begun = False

    def show(text: str) -> None:
        nonlocal begun
        if not begun:
            click.echo(click.style("Being written, not checked yet:", dim=True), err=True)
        begun = True
        click.echo(click.style(text, dim=True), nl=False, err=True)

    stream = Stream(show)
    try:
        yield stream.write
    finally:
        stream.close()
        if begun:
            click.echo(err=True)


def say_unconnected(number: int) -> None:
    """Tell how many passages came after the corpus was connected, where any did."""
    if number > 0:
        say(
            f"Note: {number} passages came after the corpus was connected; "
            f"run `kgp-neo4j connect` to join them in."
        )


def print_answer(answer: Answer, show: int) -> None:
    """Print an answer for a person; `show` passages and paths of it."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    if answer.type.type != "content" or answer.type.by == "option":
        why = f": {plain(answer.type.reason)}" if answer.type.reason else ""
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
    print_said(answer, width)
    shown = answer.passages[:show]
    signals = {path.last: path.steps[-1].signals for path in answer.paths}
    walked = [path for path in answer.paths if len(path.steps) > 1][:show]
    if walked:
        _heading("Reasoning paths")
        print_paths(answer, walked)
    _heading(f"Passages ({len(shown)} of {len(answer.passages)}, best first)")
    for passage in shown:
        where = f"passage {passage.position + 1}, characters {passage.start}-{passage.end}"
        click.echo(
            f"  [{number[passage.id]}] {click.style(plain(passage.title), bold=True)}  "
            f"{passage.score:.2f}  {click.style(where, dim=True)}"
        )
        if signals.get(passage.id):
            click.echo(click.style(_wrapped(plain(signals[passage.id]), width, "      "), dim=True))
        text = plain(passage.text)
        click.echo(_wrapped(textwrap.shorten(text, 400, placeholder=" …"), width, "      "))
    click.echo()
    click.echo(click.style(_reached(answer), dim=True))
    _end(answer, f"{len(answer.passages)} passages, agent {answer.agent}, {answer.seconds:.2f} s")


def print_paths(answer: Answer, paths: Iterable[ReasoningPath]) -> None:
    """Print paths of an answer, each from its seed to the passage that it leads to."""
    number = {passage.id: n for n, passage in enumerate(answer.passages, 1)}
    titles = {passage.id: passage for passage in answer.passages}
    for path in paths:
        click.echo(_path(path, titles, number))


def print_said(answer: Answer, width: int) -> None:
    """Print what is answered from passages, by whom, what holds it, and the notes."""
    from kgp_neo4j.answer import answered_by

    by = answered_by(answer)
    if by == "structure":
        _heading("Passages speak to it too")
        _print_sentence(answer, "", width)
    elif by == "model":
        _print_statements(answer, width)
    elif by == "sentence":
        _heading("Answer (best supporting sentence)")
        _print_sentence(answer, "", width)
    else:
        _print_reading(answer, width)
    for note in answer.notes:
        click.echo(click.style(_wrapped(f"Note: {plain(note)}", width, "  "), fg="yellow"))


def by_whom(answer: Answer) -> str:
    """Return who answered: the reader and how sure it is, or the model and what it took."""
    from kgp_neo4j.answer import answered_by

    parts = []
    by = answered_by(answer)
    if by == "reader" and answer.reading is not None:
        parts.append(f"by the offline reader, confidence {answer.reading.confidence:.2f}")
    if answer.usage is not None:
        parts.append(_usage(answer.usage, "by" if by == "model" else "asked"))
    return "; ".join(parts)


def _usage(usage: Usage, verb: str) -> str:
    kept = f" ({usage.cached} kept from before)" if usage.cached else ""
    calls = f"{usage.calls} call{'' if usage.calls == 1 else 's'}{kept}"
    about = "about " if usage.estimated else ""
    tokens = f"{about}{usage.prompt_tokens:,} + {usage.reply_tokens:,} tokens"
    cost = "" if usage.cost is None else f", cost {usage.cost:.6f}"
    return f"{verb} {usage.model}, {calls}, {tokens}{cost}"


def _print_statements(answer: Answer, width: int) -> None:
    """Print a model's answer: its statements with their citations, or with the mark."""
    from kgp_neo4j.answer.prompting import MARK

    if not answer.statements:
        _heading("Not in the evidence")
        _print_sentence(answer, "Closest: ", width)
        return
    _heading("Answer")
    for line in answer.text.splitlines():
        text = _wrapped(line, width, "  ")
        click.echo(text.replace(MARK, click.style(MARK, fg="red", bold=True)))


def _print_reading(answer: Answer, width: int) -> None:
    """Print what the offline reader found, and the sentence that holds it."""
    if answer.reading is None or answer.reading.kind == "none":
        _heading("Not in the evidence")
        _print_sentence(answer, "Closest: ", width)
        return
    sure = answer.reading.confidence >= _SURE
    _heading("Answer" if sure else "Answer (unsure: less likely right than wrong)")
    click.echo(f"  {click.style(plain(answer.text), bold=sure)}")
    _print_sentence(answer, "", width)


def _print_sentence(answer: Answer, lead: str, width: int) -> None:
    number = {passage.id: n for n, passage in enumerate(answer.passages, 1)}
    best: SupportingSentence | None = next(iter(answer.supporting), None)
    if best is not None:
        said = f"{lead}“{plain(best.text)}” [{number[best.passage]}]"
        click.echo(_wrapped(said, width, "  "))


def _end(answer: Answer, summary: str) -> None:
    who = by_whom(answer)
    click.echo(click.style(f"{summary}; {who}" if who else summary, dim=True))
    if answer.trace:
        click.echo(f"Kept in the graph: kgp-neo4j explain {answer.trace[:12]}")
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
        name = f"{plain(passage.title)} [{number[step.passage]}]" if passage else step.passage
        reason = plain(step.reason)
        if depth == 0:
            lines.append(f"  {name}  {click.style(f'found by {reason}', dim=True)}")
            continue
        reason = f"{_WORDS.get(step.edge, step.edge)} {reason}".strip()
        edge = click.style(reason, fg="magenta")
        lines.append(f"  {'   ' * (depth - 1)}└─ {edge} ─▶ {name}  {step.score:.2f}")
    return "\n".join(lines)
