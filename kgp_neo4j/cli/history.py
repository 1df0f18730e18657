"""`kgp-neo4j history` and `explain`: past questions, from the traces that are kept."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from kgp_neo4j.cli._options import corpus_option, drawn_options, show_option
from kgp_neo4j.cli._output import opened_database, print_result, result_command
from kgp_neo4j.text.safe import as_markdown, cut, plain
from kgp_neo4j.types.corpus import Trace
from kgp_neo4j.types.errors import TraceError
from kgp_neo4j.types.json_records import parts

if TYPE_CHECKING:
    from kgp_neo4j.corpus.answer.traces import Replay


@result_command("history")
@click.argument("words", nargs=-1, metavar="[WORD...]")
@corpus_option(required=False, help="Only questions to this corpus")
@click.option(
    "--show",
    type=click.IntRange(min=1),
    help="Questions that are printed (default: 20; with --export 1000).",
)
@click.option(
    "--export", is_flag=True, help="Print answers and sources as Markdown, the oldest first."
)
@click.option(
    "--remove",
    "ids",
    multiple=True,
    metavar="ID",
    help="Remove this question with its answer and traversal; can be repeated (all or none).",
)
def history_command(
    words: tuple[str, ...], corpus: str | None, show: int | None, export: bool, ids: tuple[str, ...]
) -> None:
    """List past questions with their answers, the latest first; search, export and remove them.

    With WORD... those whose question and answer have all of these words, or parts of words.
    """
    if ids and words:
        raise click.UsageError("--remove takes one ID: repeat it for others.")
    from kgp_neo4j.corpus.answer.traces import explain, remove, traces
    from kgp_neo4j.show.pages import answer_markdown

    with opened_database() as database:
        if ids:
            count = remove(database, ids)
            print_result({"removed": count}, f"Removed {count}.")
            return
        found = traces(database, corpus, words=words, limit=show or (1000 if export else 20))
        if not export:
            print_result(found, _print_traces)
            return
        for trace in reversed(found):
            replay = explain(database, trace.id)
            answer = replay.answer
            lines = [f"## {as_markdown(answer.question)}"]
            if answer.text and not answer.said:
                lines.append(as_markdown(answer.summary))
            lines += [answer_markdown(answer), f"*{_when(trace)}, {as_markdown(trace.corpus)}*\n"]
            print_result(parts(replay, "asked_at", "answer"), "\n\n".join(lines))


def _print_traces(listed: list[Trace]) -> None:
    if not listed:
        click.echo("No such question was kept. `kgp-neo4j ask ... --trace` keeps one.")
    for each in listed:
        left = f"{each.passages} passages"
        if each.left < each.passages:
            left = f"{each.left} of {each.passages} passages left"
        about = f"{_when(each)}, corpus {plain(each.corpus)}, agent {each.agent}, {left}"
        click.echo(f"{click.style(each.id[:12], bold=True)}  {plain(each.question)}")
        click.echo(f"              {cut(each.answer, 100) or 'no answer'}")
        click.echo(click.style(f"              {about}", dim=True))


def _when(trace: Trace) -> str:
    return trace.asked_at[:16].replace("T", " ")


#: Stands for a passage that was deleted since.
_GONE = "(no longer in the corpus)"


@result_command("explain")
@click.argument("trace", required=False)
@corpus_option(required=False, help="The corpus of the latest trace")
@drawn_options
@show_option(30, "Visits", least=1)
def explain_command(trace: str | None, corpus: str | None, show: int) -> None:
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
    print_result(replay, lambda replay: _print_replay(replay, show), drawn=replay.answer)


def _print_replay(made: Replay, show: int) -> None:
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
