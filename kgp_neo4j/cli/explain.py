"""`kgp-neo4j explain`: a stored traversal, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgp_neo4j.cli._options import corpus_option, html_option, mermaid_option, show_option
from kgp_neo4j.cli._output import json_option, opened_database, print_result, write_file
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.errors import TraceError

if TYPE_CHECKING:
    from kgp_neo4j.corpus.answer.traces import Replay
    from kgp_neo4j.corpus.answer.visits import Visit

_EPILOG = """
\b
Examples:
  kgp-neo4j ask "Who designed the bridge that replaced the ferry?" --corpus mine --trace
  kgp-neo4j explain --corpus mine
  kgp-neo4j explain 4f0c1b
  kgp-neo4j explain 4f0c1b --html answer.html
  kgp-neo4j explain 4f0c1b --mermaid >> notes.md

`kgp-neo4j history` lists traces, searches and removes them.
In Neo4j Browser, custom.kgp.trace('4f0c1b') shows a trace as a graph.
"""


@click.command("explain", epilog=_EPILOG)
@click.argument("trace", required=False)
@corpus_option(required=False, help="The corpus of the latest trace")
@html_option
@mermaid_option
@show_option(30, "Visits", least=1)
@json_option
def command(
    trace: str | None,
    corpus: str | None,
    html: Path | None,
    as_mermaid: bool,
    show: int,
    as_json: bool,
) -> None:
    """Tell again how an answer was found: the traversal that `ask --trace` kept in the graph.

    TRACE is its id, or the first characters of it; without one it is the latest. Shown are the
    seeds, then hop by hop the passages visited, with the edges, reasons and scores, and the answer.
    """
    if as_json and as_mermaid:
        raise click.UsageError("Choose one of --json and --mermaid.")
    from kgp_neo4j.corpus.answer.traces import explain, traces
    from kgp_neo4j.show.mermaid import paths_mermaid
    from kgp_neo4j.show.pages import answer_page

    with opened_database() as database:
        if not trace and not (latest := traces(database, corpus, limit=1)):
            where = f" of the corpus {corpus!r}" if corpus else ""
            hint = "`kgp-neo4j ask ... --trace` keeps one."
            raise TraceError(f"no trace{where} was kept", hint=hint)
        replay = explain(database, trace or latest[0].id)
    if html is not None:
        write_file(html, answer_page(replay.answer))
    if as_mermaid:
        click.echo(paths_mermaid(replay.answer), nl=False)
    else:
        print_result(replay, as_json, lambda replay: _told(replay, show))


def _told(made: Replay, show: int) -> None:
    """Print a replay, hop by hop."""
    from kgp_neo4j.corpus.answer.shown_queries import show_trace
    from kgp_neo4j.show.terminal import print_said

    answer = made.answer
    click.echo(click.style("Question", fg="cyan", bold=True))
    click.echo(f"  {plain(answer.question)}")
    asked = made.asked_at[:19].replace("T", " ")
    about = f"asked {asked}, corpus {plain(answer.corpus)}, agent {answer.agent}"
    settings = ", ".join(f"{k} {v}" for k, v in answer.settings.items() if v not in ([], None))
    click.echo(click.style(f"  {about}", dim=True))
    if settings:
        click.echo(click.style(f"  {plain(settings)}", dim=True))
    ranks = {passage.id: rank for rank, passage in enumerate(answer.passages, 1)}
    titles = {passage: plain(title) for passage, title in made.titles.items()}
    by_order = {visit.order: visit for visit in made.visits}
    hop = -1
    for visit in made.visits[:show]:
        if visit.hop != hop:
            hop = visit.hop
            name = "Seeds" if hop == 0 else f"Hop {hop}"
            click.echo("\n" + click.style(name, fg="cyan", bold=True))
        click.echo(_line(visit, titles, ranks, by_order))
    if len(made.visits) > show:
        click.echo(f"  ... and {len(made.visits) - show} more (--show {len(made.visits)})")
    print_said(answer)
    click.echo(f"\nAs a graph in Neo4j Browser: {show_trace(made.id)}")


def _line(
    visit: Visit, titles: dict[str, str], ranks: dict[str, int], by_order: dict[int, Visit]
) -> str:
    """Return one visit as a line: place, step before, reason, passage with its rank, score."""
    step = visit.step
    rank = f" [{ranks[step.passage]}]" if step.passage in ranks else ""
    name = f"{titles.get(step.passage) or step.passage}{rank}"
    score = click.style(f"{step.score:.2f}", bold=True)
    why = plain(step.why)
    if visit.before is None:
        return f"  {visit.order:>3}. {name}  {score}  {click.style(why, dim=True)}"
    before = by_order.get(visit.before)
    start = titles.get(before.step.passage, "") if before else "(no longer in the corpus)"
    edge = click.style(why, fg="magenta")
    return f"  {visit.order:>3}. {start} ─ {edge} ─▶ {name}  {score}"
