"""`kgp-neo4j history`: past questions and their answers, from the traces that are kept."""

import click

from kgp_neo4j.cli._options import corpus_option, result_command
from kgp_neo4j.cli._output import opened_database, print_result
from kgp_neo4j.text.safe import as_markdown, cut, plain
from kgp_neo4j.types.corpus import Trace
from kgp_neo4j.types.json_records import parts


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
    "unwanted",
    multiple=True,
    metavar="ID",
    help="Remove this question with its answer and traversal; can be repeated (all or none).",
)
def command(
    words: tuple[str, ...],
    corpus: str | None,
    show: int | None,
    export: bool,
    unwanted: tuple[str, ...],
) -> None:
    """List past questions with their answers, the latest first; search, export and remove them.

    With WORD... those whose question and answer have all of these words, or parts of words.
    """
    if unwanted and words:
        raise click.UsageError("--remove takes one ID: repeat it for others.")
    from kgp_neo4j.corpus.answer.traces import explain, remove, traces
    from kgp_neo4j.show.markdown import answer_markdown

    with opened_database() as database:
        if unwanted:
            count = remove(database, unwanted)
            print_result({"removed": count}, f"Removed {count}.")
            return
        found = traces(database, corpus, words=words, limit=show or (1000 if export else 20))
        if not export:
            print_result(found, _print)
            return
        for trace in reversed(found):
            replay = explain(database, trace.id)
            answer = replay.answer
            lines = [f"## {as_markdown(answer.question)}"]
            if answer.text and not answer.said:
                lines.append(as_markdown(answer.summary))
            lines += [answer_markdown(answer), f"*{_when(trace)}, {as_markdown(trace.corpus)}*\n"]
            print_result(parts(replay, "asked_at", "answer"), "\n\n".join(lines))


def _print(listed: list[Trace]) -> None:
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
