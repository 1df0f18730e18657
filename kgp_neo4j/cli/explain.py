"""`kgp-neo4j explain`: a stored traversal, step by step."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from kgp_neo4j.cli._options import corpus_option, drawn_options, result_command, show_option
from kgp_neo4j.cli._output import opened_database, print_result
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.errors import TraceError

if TYPE_CHECKING:
    from kgp_neo4j.corpus.answer.traces import Replay

#: Stands for a passage that was deleted since.
_GONE = "(no longer in the corpus)"


@result_command("explain")
@click.argument("trace", required=False)
@corpus_option(required=False, help="The corpus of the latest trace")
@drawn_options
@show_option(30, "Visits", least=1)
def command(trace: str | None, corpus: str | None, show: int) -> None:
    """Tell again how an answer was found: the traversal that `ask --trace` kept in the graph.

    TRACE is its id, or the first characters of it; without one it is the latest. Shown are the
    seeds, then hop by hop the passages visited, with the edges, reasons and scores, and the answer.
    """
    from kgp_neo4j.corpus.answer.traces import explain, traces

    with opened_database() as database:
        if not trace and not (latest := traces(database, corpus, limit=1)):
            where = f" of the corpus {corpus!r}" if corpus else ""
            hint = "`kgp-neo4j ask ... --trace` keeps one."
            raise TraceError(f"no trace{where} was kept", hint=hint)
        replay = explain(database, trace or latest[0].id)
    print_result(replay, lambda replay: _told(replay, show), drawn=replay.answer)


def _told(made: Replay, show: int) -> None:
    """Print a replay, hop by hop."""
    from kgp_neo4j.corpus.answer.traces import show_trace
    from kgp_neo4j.show.terminal import print_said

    answer = made.answer
    click.secho("Question", fg="cyan", bold=True)
    click.echo(f"  {plain(answer.question)}")
    asked = made.asked_at[:19].replace("T", " ")
    settings = ", ".join(f"{k} {v}" for k, v in answer.settings.items() if v not in ([], None))
    about = f"asked {asked}, corpus {plain(answer.corpus)}, agent {answer.agent}"
    for line in filter(None, (about, plain(settings))):
        click.secho(f"  {line}", dim=True)
    ranks = {passage.id: f" [{rank}]" for rank, passage in enumerate(answer.passages, 1)}
    steps = {visit.order: visit.step.passage for visit in made.visits}
    for hop, visits in groupby(made.visits[:show], key=lambda visit: visit.hop):
        click.secho(f"\nHop {hop}" if hop else "\nSeeds", fg="cyan", bold=True)
        for visit in visits:
            step, why = visit.step, plain(visit.step.why)
            name = f"{plain(made.titles.get(step.passage) or step.passage)}"
            name += f"{ranks.get(step.passage, '')}  {click.style(f'{step.score:.2f}', bold=True)}"
            if visit.before is None:
                told = f"{name}  {click.style(why, dim=True)}"
            else:
                start = plain(made.titles.get(steps.get(visit.before, ""), _GONE))
                told = f"{start} ─ {click.style(why, fg='magenta')} ─▶ {name}"
            click.echo(f"  {visit.order:>3}. {told}")
    if len(made.visits) > show:
        click.echo(f"  ... and {len(made.visits) - show} more (--show {len(made.visits)})")
    print_said(answer)
    click.echo(f"\nAs a graph in Neo4j Browser: {show_trace(made.id)}")
