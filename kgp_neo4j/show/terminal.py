"""Print answers and mind maps by rich, cleaned of control codes, which a terminal would obey."""

import os
import shutil
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.style import Style
from rich.text import Text
from rich.tree import Tree

from kgp_neo4j.show.trees import TreeNode, map_tree, path_tree
from kgp_neo4j.show.view import AnswerView, edge_note, label, words_in
from kgp_neo4j.text.safe import plain, printable
from kgp_neo4j.types.corpus import Answer
from kgp_neo4j.types.mindmap import MindMap
from kgp_neo4j.types.tables import StructuralAnswer

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

    def row(self, text: str, behind: str = "") -> None:
        """Write a line of an answer; a row of a table stays one line, whatever its length."""
        if text.startswith("|"):
            self.line(f"  {text}{behind}")
        else:
            self.filled(Text.assemble((text, "bold"), (behind, "dim")))

    def link(self, address: str | None) -> None:
        """Write the link into Neo4j Browser, where there is one; on a terminal it is short."""
        if address:
            shown = address.partition("?")[0] if self.styled else address
            link = Text(shown, Style(link=address))
            self.line(Text.assemble("See it in Neo4j Browser: ", link))
            self.line("  (user neo4j; `kgp-neo4j server open --show-password` shows the password)")


def print_answer(answer: Answer, show: int, *, queries: bool = False) -> None:
    """Print an answer with at most `show` passages, and with its `queries` on demand."""
    page = _Page()
    if answer.type.type != "content" or answer.type.by == "option":
        why = f": {plain(answer.type.reason)}" if answer.type.reason else ""
        page.line(f"Question type: {answer.type.type} (by {answer.type.by}{why})")
    print_said(answer, queries=queries)
    counts = f"from {answer.agent}, {answer.seconds:.2f} s"
    if answer.passages:
        drawn = path_tree(answer)
        if drawn and any(len(path.steps) > 1 for path in answer.paths):
            page.heading("Reasoning paths")
            for line in tree_lines(drawn, " ─▶"):
                page.line(Text("  ").append_text(line))
        _print_passages(page, answer, show)
        counts = f"{len(answer.passages)} passages, agent {answer.agent}, {answer.seconds:.2f} s"
    page.line("; ".join(filter(None, (counts, AnswerView(answer).by))), "dim")
    if answer.trace:
        page.line(f"Kept in the graph: kgp-neo4j explain {answer.trace[:12]}")
    page.link(answer.browser)


def _print_passages(page: _Page, answer: Answer, show: int) -> None:
    """Print the best passages, and over which edges all of them were reached."""
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


def print_said(answer: Answer, *, queries: bool = False) -> None:
    """Print the answer, how sure it is, what it rests on, and the notes; `queries` on demand."""
    page, view = _Page(), AnswerView(answer)
    page.heading(plain(answer.heading), _TIERS[answer.tier])
    if answer.by == "model":
        from kgp_neo4j.corpus.answer.check import MARK, UNJUDGED

        for number, line in enumerate(answer.text.splitlines()):
            text = Text(line, "" if number else "bold")
            text.highlight_words([MARK], "bold red")
            text.highlight_words([UNJUDGED], "yellow")
            page.filled(text)
    elif lines := printable(answer.said).splitlines():
        # A sentence of a passage is quoted; of another answer the sentences below are.
        said = [each.passage for each in answer.shown_sentences if each.text == answer.said]
        lines = [f"“{plain(answer.said)}” {view.cites(said)}"] if said else lines
        for line in lines[:-1]:
            page.row(line)
        page.row(lines[-1], f"  {answer.probably}".rstrip())
    for sentence in view.quoted:
        text = Text(plain(sentence.text))
        for start, end in words_in(answer, sentence):
            words = plain(sentence.text[start:end])
            at = text.plain.find(words, len(plain(sentence.text[:start])))
            text.stylize("bold", at, at + len(words))
        page.filled(Text.assemble(f"{view.lead}“", text, f"” {view.cites([sentence.passage])}"))
    if view.structural is not None:
        _print_structural(page, view, view.structural, queries=queries)
    for note in answer.notes:
        page.filled(f"Note: {plain(note)}", "yellow")


def _print_structural(
    page: _Page, view: AnswerView, structural: StructuralAnswer, *, queries: bool
) -> None:
    """Print how pages and tables were read, their text unless it was said, and the places."""
    if structural.reading:
        page.filled(f"read as: {plain(structural.reading)}", "dim")
    if structural.doubt:
        page.filled(f"Doubt: {plain(structural.doubt)}", "yellow")
    if view.table:
        page.line()
        page.line(textwrap.indent(printable(view.table), "  "))
    if view.cells:
        page.heading("Where it stands")
    for cell in view.cells[:_CITATIONS]:
        text = textwrap.shorten(plain(cell.text), _QUOTED, placeholder=" …")
        page.line(f"  {plain(label(cell))}{f': {text}' if text else ''}")
    if (more := len(view.cells) - _CITATIONS) > 0:
        page.line(f"  ... and {more} more (--json has all)")
    for query in structural.queries if queries else ():
        from kgp_neo4j.corpus.answer.traces import browser_lines

        page.heading(f"Query (read-only): {query.name}")
        for line in browser_lines(query):
            page.line(f"  {printable(line)}", "dim")
    page.line()


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
            words = f"{edge.head} ─ {edge.relation or '·'} ─▶ {edge.tail} {edge_note(edge)}"
            page.line(f"  {plain(words)}", _STATUS_STYLES[edge.status])
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
