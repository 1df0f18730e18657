"""Print an answer on the terminal: its text, reasoning paths, passages and link."""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.corpus import Answer, Passage, ReasoningPath, SupportingSentence
from kgp_neo4j.types.tables import Citation, StructuralAnswer

if TYPE_CHECKING:
    from kgp_neo4j.types.language import Usage

__all__ = ["by_whom", "print_answer", "print_paths", "print_said", "print_structural"]

#: Citations, and characters of one, that are printed at most.
_CITATIONS, _QUOTED = 10, 200


def print_structural(answer: StructuralAnswer, width: int) -> None:
    """Print a structural answer in lines of at most `width` characters."""
    from kgp_neo4j.corpus.answer.shown_queries import browser_lines
    from kgp_neo4j.text.safe import plain, printable

    _structural_heading("Answer" if answer.sure or not answer.found else "No sure answer")
    # Cells and titles come from documents, and a terminal would obey control codes in them.
    said = printable(answer.text).splitlines()
    for line in said:
        row = line.startswith("|")  # a row of a table stays one line, whatever its length
        click.echo(f"  {line}" if row else _filled(line, width))
    if answer.reading:
        click.echo(click.style(_filled(f"read as: {plain(answer.reading)}", width), dim=True))
    if answer.doubt:
        click.echo(click.style(_filled(f"Doubt: {plain(answer.doubt)}", width), fg="yellow"))
    table = printable(answer.markdown).splitlines()
    if not set(table) <= set(said):
        click.echo()
        for line in table:
            click.echo(f"  {line}")
    if answer.citations:
        _structural_heading("Where it stands")
        for citation in answer.citations[:_CITATIONS]:
            click.echo(f"  {plain(place(citation))}")
        if len(answer.citations) > _CITATIONS:
            click.echo(f"  ... and {len(answer.citations) - _CITATIONS} more (--json has all)")
    if answer.queries:
        _structural_heading("Query (read-only)")
        for query in answer.queries:
            for line in browser_lines(query):
                click.echo(click.style(f"  {printable(line)}", dim=True))
    click.echo()


def place(citation: Citation) -> str:
    """Return a citation and its place as one line."""
    parts = [citation.title]
    if citation.page is not None:
        printed = citation.label and citation.label != str(citation.page)
        parts.append(f"page {citation.page}" + (f" (printed {citation.label})" if printed else ""))
    if citation.table_name:
        parts.append(citation.table_name)
    if citation.row is not None:
        where = f"row {citation.row}" if citation.row > 0 else "header"
        parts.append(f"{where} ({citation.row_name})" if citation.row_name else where)
    if citation.column is not None:
        name = f" ({citation.column_name})" if citation.column_name else ""
        parts.append(f"column {citation.column}{name}")
    made = ", ".join(parts)
    text = " ".join(citation.text.split())
    return f"{made}: {textwrap.shorten(text, _QUOTED, placeholder=' …')}" if text else made


def _structural_heading(text: str) -> None:
    click.echo("\n" + click.style(text, fg="cyan", bold=True))


def _filled(text: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent="  ", subsequent_indent="  ")


# --- Answers ---

_WORDS = {
    "SHARES_ENTITY": "by way of",
    "SHARES_KEYWORD": "shares",
    "MENTIONS": "both mention",
    "SIMILAR_ST": "is near",
    "SIMILAR_MDR": "is near",
    "NEXT": "then",
}


def print_answer(answer: Answer, show: int) -> None:
    """Print an answer with at most `show` passages and paths."""
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
        click.echo(
            f"  [{number[passage.id]}] {click.style(plain(passage.heading), bold=True)}  "
            f"{passage.score:.2f}  {click.style(passage.place, dim=True)}"
        )
        if signals.get(passage.id):
            click.echo(click.style(_wrapped(plain(signals[passage.id]), width, "      "), dim=True))
        text = plain(passage.text)
        click.echo(_wrapped(textwrap.shorten(text, 400, placeholder=" …"), width, "      "))
    click.echo()
    click.echo(click.style(_reached(answer), dim=True))
    _end(answer, f"{len(answer.passages)} passages, agent {answer.agent}, {answer.seconds:.2f} s")


def print_paths(answer: Answer, paths: Iterable[ReasoningPath]) -> None:
    """Print paths of an answer, each from its seed to its last passage."""
    number = {passage.id: n for n, passage in enumerate(answer.passages, 1)}
    titles = {passage.id: passage for passage in answer.passages}
    for path in paths:
        click.echo(_path(path, titles, number))


def print_said(answer: Answer, width: int) -> None:
    """Print the answer from passages, who gave it, its evidence, and the notes."""
    from kgp_neo4j.corpus.pipeline import answered_by

    by = answered_by(answer)
    if by == "structure":
        _heading("Passages speak to it too")
        _print_sentences(answer, width)
    elif by == "model":
        _print_statements(answer, width)
    elif by == "sentence":
        _heading("The sentences that speak most to it")
        _print_sentences(answer, width)
    else:
        _print_reading(answer, width)
    for note in answer.notes:
        click.echo(click.style(_wrapped(f"Note: {plain(note)}", width, "  "), fg="yellow"))


def by_whom(answer: Answer) -> str:
    """Return who answered: the reader and its confidence, or the model and its usage."""
    from kgp_neo4j.corpus.pipeline import answered_by

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
    """Print a model's statements with their citations, or with the mark of unsupported ones."""
    from kgp_neo4j.corpus.answer.check import MARK

    if not answer.statements:
        _heading("Not in these documents")
        _print_sentences(answer, width, "Closest: ")
        return
    _heading("Answer")
    for line in answer.text.splitlines():
        text = _wrapped(line, width, "  ")
        click.echo(text.replace(MARK, click.style(MARK, fg="red", bold=True)))


def _print_reading(answer: Answer, width: int) -> None:
    """Print the reader's stated answer with its sentence, or the likely words and sentences."""
    if answer.reading is None or answer.reading.kind == "none":
        _heading("Not in these documents")
        _print_sentences(answer, width, "Closest: ")
    elif answer.stated:
        _heading("Answer")
        click.echo(f"  {click.style(plain(answer.text), bold=True)}")
        _print_sentences(answer, width)
    else:
        _heading(plain(answer.summary))
        _print_sentences(answer, width)


def _print_sentences(answer: Answer, width: int, lead: str = "") -> None:
    """Print the sentences most relevant to the question, with the likely words marked."""
    number = {passage.id: n for n, passage in enumerate(answer.passages, 1)}
    for sentence in answer.shown_sentences:
        said = f"{lead}“{_marked(answer, sentence)}” [{number[sentence.passage]}]"
        click.echo(_wrapped(said, width, "  "))


def _marked(answer: Answer, sentence: SupportingSentence) -> str:
    """Return a sentence with the reader's answer words in bold."""
    if answer.reading is None or answer.reading.kind != "span":
        return plain(sentence.text)
    said = plain(sentence.text)
    for span in answer.reading.spans:
        start, end = span.start - sentence.start, span.end - sentence.start
        if span.passage == sentence.passage and 0 <= start < end <= len(sentence.text):
            words = plain(sentence.text[start:end])
            at = said.find(words, len(plain(sentence.text[:start])))
            if at >= 0:
                return said[:at] + click.style(words, bold=True) + said[at + len(words) :]
    return said


def _end(answer: Answer, summary: str) -> None:
    who = by_whom(answer)
    click.echo(click.style(f"{summary}; {who}" if who else summary, dim=True))
    if answer.trace:
        click.echo(f"Kept in the graph: kgp-neo4j explain {answer.trace[:12]}")
    if answer.browser:
        click.echo(f"See it in Neo4j Browser: {answer.browser}")
        click.echo("  (user neo4j; `kgp-neo4j server open --show-password` shows the password)")


def _reached(answer: Answer) -> str:
    """Return a line on the kinds of edges that led to the passages, the commonest first."""
    counts = Counter(path.steps[-1].edge for path in answer.paths).most_common()
    said = (f"{n} as a seed" if edge == "seed" else f"{n} over {edge}" for edge, n in counts)
    return "Reached: " + ", ".join(said)


def _heading(text: str) -> None:
    click.echo("\n" + click.style(text, fg="cyan", bold=True))


def _wrapped(text: str, width: int, indent: str) -> str:
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)


def _path(path: ReasoningPath, passages: dict[str, Passage], number: dict[str, int]) -> str:
    """Return one path as text: seed, then each edge with its reason and its passage."""
    lines: list[str] = []
    for depth, step in enumerate(path.steps):
        passage = passages.get(step.passage)
        name = f"{plain(passage.heading)} [{number[step.passage]}]" if passage else step.passage
        reason = plain(step.reason)
        if depth == 0:
            lines.append(f"  {name}  {click.style(f'found by {reason}', dim=True)}")
            continue
        reason = f"{_WORDS.get(step.edge, step.edge)} {reason}".strip()
        edge = click.style(reason, fg="magenta")
        lines.append(f"  {'   ' * (depth - 1)}└─ {edge} ─▶ {name}  {step.score:.2f}")
    return "\n".join(lines)
