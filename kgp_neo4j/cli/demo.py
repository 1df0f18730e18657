"""`kgp-neo4j demo`: load, connect and ask, on documents that come with the package."""

import shlex
from concurrent.futures import ThreadPoolExecutor

import click

from kgp_neo4j.cli._options import default_option
from kgp_neo4j.cli._output import gave_json, opened_database, result_command


@result_command("demo")
@default_option("--corpus", "demo", "Where it is loaded.", metavar="NAME")
@click.option("--question", metavar="TEXT", help="Ask this instead of the demo's own question.")
def demo_command(corpus: str, question: str | None) -> None:
    """Load twenty-one short documents, connect them, and ask a question that needs two of them.

    Starts the database where none runs; the first time, it is fetched (170 MB).
    """
    from kgp_neo4j import demo
    from kgp_neo4j.corpus.pipeline import make_pipeline
    from kgp_neo4j.corpus.read.reader import load_reader
    from kgp_neo4j.models.encoder import load_encoder
    from kgp_neo4j.show.terminal import print_answer

    asked = demo.QUESTION if question is None else question
    pool = ThreadPoolExecutor(1)
    models = [pool.submit(load) for load in (load_encoder, load_reader)]
    with opened_database() as database:
        for each in models:
            each.result()
        loaded, connected = demo.prepare(database, corpus)
        demo.prepare_graph(database, corpus)
        answer = make_pipeline(database, corpus, settings=demo.SETTINGS).ask(asked)
        embedded = database.connection.embedded
    name, limits = shlex.quote(corpus), demo.SUGGESTED
    further = [
        f'kgp-neo4j ask "{each}" --corpus {name} --seeds {limits.seeds} --budget {limits.budget}'
        for each in (*demo.QUESTIONS, demo.TABLE_QUESTION)
        if each != asked
    ]
    further.append(f'kgp-neo4j mindmap "{demo.SYMPTOMS}" --graph {name}')
    made = {"load": loaded, "connect": connected, "answer": answer, "next": further}
    if gave_json(made):
        return
    done = "were connected already" if connected is None else "loaded and connected"
    click.echo(f"{loaded.documents} documents {done} in the corpus {corpus!r}.")
    click.echo(f"\n{click.style('Question', fg='cyan', bold=True)}\n  {asked}")
    print_answer(answer, show=3)
    click.echo("\n" + click.style("What to try next", fg="cyan", bold=True))
    for line in further:
        click.echo(f"  {line}")
    if embedded:
        click.echo("  kgp-neo4j server open --show-password   # Neo4j Browser; in it, run:")
        click.echo("                                          #   CALL custom.kgp.help()")
    click.echo("  kgp-neo4j load PATH... --corpus mine    # then: connect, ask")
