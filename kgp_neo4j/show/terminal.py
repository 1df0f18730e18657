"""Print answers on the terminal with rich: texts, reasoning paths, passages, mind maps, links.

Colours and links appear where stdout is a terminal, and neither `--no-color` nor the environment is
against it. What comes from documents and models is cleaned first: a terminal would obey the control
codes in it.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.style import Style
from rich.text import Text
from rich.tree import Tree

from kgp_neo4j.show.marks import STATUS_MARKS, by_whom, words_in
from kgp_neo4j.show.trees import TreeNode, map_tree, path_tree
from kgp_neo4j.text.safe import plain, printable
from kgp_neo4j.types.corpus import Answer
from kgp_neo4j.types.tables import Citation, StructuralAnswer

if TYPE_CHECKING:
    from kgp_neo4j.types.mindmap import MindMap

#: Citations, characters of one, and edges of a refused mind map that are printed at most.
_CITATIONS, _QUOTED, _REJECTED = 10, 200, 10
#: The colour of a heading by how an answer is given.
_TIERS = {"stated": "green", "probable": "yellow", "evidence": "magenta", "none": "red"}
_STATUS_STYLES = {"grounded": "", "question": "blue", "model": "yellow", "contradicts": "bold red"}


class _Page:
    """Writes to stdout, in lines of at most 110 columns."""

    def __init__(self) -> None:
        width = min(shutil.get_terminal_size((100, 24)).columns, 110)
        context = click.get_current_context(silent=True)
        #: Whether there are colours and links. rich would write them into a pipe, too, if told to.
        self.styled = sys.stdout.isatty() and (context is None or context.color is not False)
        colours: Any = "auto" if self.styled else None
        self.console = Console(width=width, highlight=False, emoji=False, color_system=colours)

    def heading(self, text: str, colour: str = "cyan") -> None:
        """Write a heading after an empty line."""
        self.line(Text(f"\n{text}", f"bold {colour}"))

    def line(self, text: Text | str = "", style: str = "") -> None:
        """Write one line as it is, however long."""
        shown = Text(text, style) if isinstance(text, str) else text
        self.console.print(shown, soft_wrap=True)

    def filled(self, text: Text | str, style: str = "", indent: int = 2) -> None:
        """Write a text in as many indented lines as it takes."""
        shown = Text(text, style) if isinstance(text, str) else text
        for line in shown.wrap(self.console, self.console.width - indent):
            line.rstrip()
            self.line(Text(" " * indent).append_text(line))

    def row(self, text: str, style: str, behind: str = "") -> None:
        """Write a line of an answer; a row of a table stays one line, whatever its length."""
        shown = Text.assemble((text, "" if text.startswith("|") else style), (behind, "dim"))
        if text.startswith("|"):
            self.line(Text("  ").append_text(shown))
        else:
            self.filled(shown)

    def link(self, address: str | None) -> None:
        """Write the link into Neo4j Browser, where there is one; on a terminal it is short."""
        if address:
            shown = address.partition("?")[0] if self.styled else address
            link = Text(shown, Style(link=address))
            self.line(Text.assemble("See it in Neo4j Browser: ", link))
            self.line("  (user neo4j; `kgp-neo4j server open --show-password` shows the password)")


# --- Answers over documents ---


def print_answer(answer: Answer, show: int, *, queries: bool = False) -> None:
    """Print an answer with at most `show` passages, and with its `queries` on demand."""
    page = _Page()
    if answer.type.type != "content" or answer.type.by == "option":
        why = f": {plain(answer.type.reason)}" if answer.type.reason else ""
        page.line(f"Question type: {answer.type.type} (by {answer.type.by}{why})")
    print_said(answer, queries=queries)
    if not answer.passages:
        _end(page, answer, f"from {answer.agent}, {answer.seconds:.2f} s")
        return
    drawn = path_tree(answer)
    if drawn and any(len(path.steps) > 1 for path in answer.paths):
        page.heading("Reasoning paths")
        for line in tree_lines(drawn, " ─▶"):
            page.line(Text("  ").append_text(line))
    shown = answer.passages[:show]
    page.heading(f"Passages ({len(shown)} of {len(answer.passages)}, best first)")
    for number, passage in enumerate(shown, 1):
        source = passage.source
        # A file of this machine can be opened. Path.is_file raises for a name that is too long.
        there = os.path.isabs(source) and os.path.isfile(source)  # noqa: PTH113, PTH117
        link = Path(source).as_uri() if there else None
        title = (plain(passage.cited), Style(bold=True, link=link))
        place = (passage.place, "dim")
        page.line(Text.assemble(f"  [{number}] ", title, f"  {passage.score:.2f}  ", place))
        page.filled(textwrap.shorten(plain(passage.text), 400, placeholder=" …"), indent=6)
    edges = Counter(path.steps[-1].edge for path in answer.paths).most_common()
    reached = (f"{n} as a seed" if edge == "seed" else f"{n} over {edge}" for edge, n in edges)
    page.line(f"\nReached: {', '.join(reached)}", "dim")
    counts = f"{len(answer.passages)} passages, agent {answer.agent}, {answer.seconds:.2f} s"
    _end(page, answer, counts)


def print_said(answer: Answer, *, queries: bool = False) -> None:
    """Print the answer, how sure it is, what it rests on, and the notes; `queries` on demand."""
    page, structural = _Page(), answer.structural
    page.heading(plain(answer.heading), _TIERS[answer.tier])
    if answer.by == "model":
        from kgp_neo4j.corpus.answer.check import MARK, UNJUDGED

        for number, line in enumerate(answer.text.splitlines()):
            text = Text(line, "" if number else "bold")
            text.highlight_words([MARK], "bold red")
            text.highlight_words([UNJUDGED], "yellow")
            page.filled(text)
    elif answer.said and answer.said not in {each.text for each in answer.shown_sentences}:
        *lines, last = printable(answer.said).splitlines() or [""]
        for line in lines:
            page.row(line, "bold")
        page.row(last, "bold", f"  {answer.probably}".rstrip())
    if answer.by != "model":
        _print_sentences(page, answer, "Closest: " if answer.tier == "none" else "")
    if structural is not None:
        _print_structural(page, structural, answer.said, queries=queries)
    for note in answer.notes:
        page.filled(f"Note: {plain(note)}", "yellow")


def _print_structural(
    page: _Page, structural: StructuralAnswer, said: str, *, queries: bool
) -> None:
    """Print how pages and tables were read, their text unless it was said, and the places."""
    from kgp_neo4j.corpus.answer.shown_queries import browser_lines

    if structural.reading:
        page.filled(f"read as: {plain(structural.reading)}", "dim")
    if structural.doubt:
        page.filled(f"Doubt: {plain(structural.doubt)}", "yellow")
    table = printable(structural.markdown).splitlines()
    if not set(table) <= set(printable(said).splitlines()):
        page.line()
        for line in table:
            page.line(f"  {line}")
    if structural.citations:
        page.heading("Where it stands")
        for citation in structural.citations[:_CITATIONS]:
            page.line(f"  {plain(_place(citation))}")
        if len(structural.citations) > _CITATIONS:
            more = len(structural.citations) - _CITATIONS
            page.line(f"  ... and {more} more (--json has all)")
    for query in structural.queries if queries else ():
        page.heading(f"Query (read-only): {query.name}")
        for line in browser_lines(query):
            page.line(f"  {printable(line)}", "dim")
    page.line()


def _place(citation: Citation) -> str:
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
    place = ", ".join(parts)
    text = " ".join(citation.text.split())
    return f"{place}: {textwrap.shorten(text, _QUOTED, placeholder=' …')}" if text else place


def _print_sentences(page: _Page, answer: Answer, lead: str = "") -> None:
    """Print the sentences most relevant to the question, with the likely words in bold."""
    numbers = {passage.id: number for number, passage in enumerate(answer.passages, 1)}
    for sentence in answer.shown_sentences:
        text = Text(plain(sentence.text))
        for start, end in words_in(answer, sentence):
            words = plain(sentence.text[start:end])
            at = text.plain.find(words, len(plain(sentence.text[:start])))
            text.stylize("bold", at, at + len(words))
        sure = ""
        if sentence.text == answer.text:  # it is itself the answer
            text.stylize("bold")
            sure = f"  {answer.probably}"
        cited = f"” [{numbers.get(sentence.passage, '?')}]"  # a trace may have lost its documents
        page.filled(Text.assemble(f"{lead}“", text, cited, (sure, "dim")))


def _end(page: _Page, answer: Answer, summary: str) -> None:
    who = by_whom(answer)
    page.line(f"{summary}; {who}" if who else summary, "dim")
    if answer.trace:
        page.line(f"Kept in the graph: kgp-neo4j explain {answer.trace[:12]}")
    page.link(answer.browser)


# --- Answers over knowledge graphs ---


def print_mind_map(answer: MindMap, show: int) -> None:
    """Print an answer with at most `show` lines of its mind map."""
    from kgp_neo4j.mindmap.answer.compose import path_text

    page = _Page()
    for notice in answer.notices:
        page.line(Text.assemble(("Note: ", "bold yellow"), plain(notice)))
    page.heading("Entities of the question")
    for entity in answer.reasoning.entities:
        others = ", ".join(f"{name} {score:.2f}" for name, score in entity.alternatives[:3])
        also = f"  (or {plain(others)})" if others else ""
        to = f"{plain(entity.name)}  {entity.score:.2f}" if entity.id else "not in the graph"
        to += "" if entity.status == "present" else f"  ({entity.status})"
        page.line(Text.assemble(f"  {plain(entity.surface)} → {to}", (also, "dim")))
    if not answer.reasoning.entities:
        page.line("  none was found in the graph")
    by = "by the model, checked" if answer.by == "model" else "composed from the evidence"
    page.heading(f"Answer ({by})")
    page.line(textwrap.indent(printable(answer.text), "  "))
    if answer.reasoning.asked:
        page.heading("Relation paths that the question may ask for")
        for path in answer.reasoning.asked:
            page.line(f"  {path.score:4.0%}  {path_text(path)}  {path.ends} at its end")
    if answer.inference:
        page.heading("Inference")
        page.line(textwrap.indent(answer.inference, "  "))
    if drawn := map_tree(answer):
        page.heading("Mind map")
        lines = tree_lines(drawn, " ")
        for line in lines[:show]:
            page.line(Text("  ").append_text(line))
        if len(lines) > show:
            page.line(f"  … {len(lines) - show} more lines (--show)", "dim")
    rejected = answer.reply.edges if answer.reply and answer.reply.problem else ()
    if rejected:
        page.heading("What the model drew instead")
        for edge in rejected[:_REJECTED]:
            mark = STATUS_MARKS[edge.status]
            words = plain(f"{edge.head} ─ {edge.relation or '·'} ─▶ {edge.tail} {mark}")
            style = _STATUS_STYLES.get(edge.status, "")
            page.line(Text.assemble((f"  {words}", style), f"  {plain(edge.note)}".rstrip()))
    share = answer.carried
    carried = f"{share.grounded} of {share.edges} edges are carried by the graph"
    if own := share.edges - share.grounded - share.contradicted:
        carried += f", {own} the model's own"
    evidence = len(answer.reasoning.triples)
    page.line(f"\n{carried}; {evidence} triples of evidence, {answer.seconds:.2f} s", "dim")
    page.link(answer.browser)


def tree_lines(root: TreeNode, arrow: str) -> list[Text]:
    """Return what is below the root of a tree as lines, with an arrow behind each reason."""
    top = Tree("", hide_root=True)
    left = [(node, top) for node in root.children]
    for node, above in left:
        title, why = plain(node.title), plain(node.why)
        if node.number:
            title += f" [{node.number}]"
        if above is top:
            line = Text.assemble((title, "bold"), (f"  {why}".rstrip(), "dim"))
        else:
            style = next((_STATUS_STYLES[k] for k in node.kinds if k in _STATUS_STYLES), "")
            line = Text.assemble((f"{why}{arrow} ", "magenta"), (title, style))
        again = " ↑" if "again" in node.kinds else ""
        line.append(f"  … {node.hidden} more" if node.hidden else again, "dim")
        below = above.add(line)
        left += [(child, below) for child in node.children]
    lines = Console(width=100_000).render_lines(top, pad=False)
    return [Text.assemble(*((part.text, part.style or "") for part in line)) for line in lines]
