"""Print an answer over a knowledge graph: text, mind map, evidence, notices, the link."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kgp_neo4j.types.mindmap import MindMap

__all__ = ["print_mind_map"]

_COLOURS: dict[str, dict[str, Any]] = {
    "relation": {"fg": "magenta"},
    "again": {"dim": True},
    "question": {"fg": "blue"},
    "model": {"fg": "yellow"},
    "contradicts": {"fg": "red", "bold": True},
    "root": {"bold": True},
}
_ROUTES = 10


def print_mind_map(answer: MindMap, show: int) -> None:
    """Print an answer with at most `show` lines of its mind map."""
    from kgp_neo4j.mindmap.answer.path_answer import path_text
    from kgp_neo4j.show.mindmap_lines import MARKS

    for notice in answer.notices:
        click.echo(click.style("Note: ", fg="yellow", bold=True) + notice)
    _linked(answer)
    by = "by the model, checked" if answer.by == "model" else "composed from the evidence"
    _heading(f"Answer ({by})")
    click.echo(textwrap.indent(answer.text, "  "))
    if answer.reasoning.asked:
        _heading("Relation paths that the question may ask for")
        for path in answer.reasoning.asked:
            click.echo(f"  {path.score:4.0%}  {path_text(path)}  {path.ends} at its end")
    if answer.options:
        _heading("Options")
        for option in answer.options:
            mark = "▶" if option.label == answer.choice else " "
            click.echo(f" {mark} {option.label}: {option.text}  {option.score:.3f}")
            for route in option.routes[:2]:
                click.echo(click.style(f"      {route}", dim=True))
    if answer.inference:
        _heading("Inference")
        click.echo(textwrap.indent(answer.inference, "  "))
    if answer.edges:
        _heading("Mind map")
        _tree(answer, show)
    rejected = answer.reply.edges if answer.reply and answer.reply.problem else ()
    if rejected:
        _heading("What the model drew instead")
        for edge in rejected[:_ROUTES]:
            said = f"{edge.head} ─ {edge.relation or '·'} ─▶ {edge.tail} {MARKS[edge.status]}"
            note = f"  {edge.note}" if edge.note else ""
            click.echo("  " + click.style(said.rstrip(), **_COLOURS.get(edge.status, {})) + note)
    click.echo()
    click.echo(click.style(_summary(answer), dim=True))
    if answer.browser:
        click.echo(f"See it in Neo4j Browser: {answer.browser}")
        click.echo("  (user neo4j; `kgp-neo4j server open --show-password` shows the password)")


def _linked(answer: MindMap) -> None:
    _heading("Entities of the question")
    for entity in answer.reasoning.entities:
        others = ", ".join(f"{name} {score:.2f}" for name, score in entity.alternatives[:3])
        also = click.style(f"  (or {others})", dim=True) if others else ""
        to = f"{entity.name}  {entity.score:.2f}" if entity.id else "not in the graph"
        click.echo(f"  {entity.surface} → {to}{also}")
    if not answer.reasoning.entities:
        click.echo("  none was found in the graph")


def _tree(answer: MindMap, show: int) -> None:
    from kgp_neo4j.show.mindmap_lines import tree_lines

    roots = [entity.name for entity in answer.reasoning.entities if entity.id]
    lines = tree_lines(
        answer.edges, roots, lambda text, kind: click.style(text, **_COLOURS.get(kind, {}))
    )
    for line in lines[:show]:
        click.echo(f"  {line}")
    if len(lines) > show:
        click.echo(click.style(f"  … {len(lines) - show} more lines (--show)", dim=True))


def _summary(answer: MindMap) -> str:
    measured = answer.carried
    own = measured.edges - measured.grounded - measured.contradicted
    said = f"{measured.grounded} of {measured.edges} edges are carried by the graph"
    if own:
        said += f", {own} the model's own"
    evidence = len(answer.reasoning.triples)
    return f"{said}; {evidence} triples of evidence, {answer.seconds:.2f} s"


def _heading(text: str) -> None:
    click.echo("\n" + click.style(text, fg="cyan", bold=True))
