"""`kgp-neo4j serve` and `mcp`: corpora and knowledge graphs for other programs."""

from pathlib import Path
from typing import Any

import click

from kgp_neo4j.cli import _options
from kgp_neo4j.cli._output import opened_database, say
from kgp_neo4j.types.settings import ServeSettings


@click.group("serve", invoke_without_command=True)
@_options.default_option("--host", "127.0.0.1", "The address to listen on.")
@_options.default_option(
    "--port", 7480, "The port to listen on; 0 for any that is free.", type=click.IntRange(0, 65535)
)
@click.option(
    "--tokens",
    type=_options.FILE,
    metavar="FILE",
    help="The file of tokens: who may see and do what.",
)
@_options.settings_options(settings=ServeSettings)
@click.option("--log-json", is_flag=True, help="Write the log as JSON, a line for each request.")
@_options.llm_option(
    "answers where a request does not refuse it; given twice, requests may name another",
    multiple=True,
)
@_options.chat_url_option
@click.pass_context
def serve_command(
    ctx: click.Context,
    host: str,
    port: int,
    tokens: Path | None,
    log_json: bool,
    llm: tuple[str, ...],
    chat_url: str | None,
    settings: ServeSettings,
) -> None:
    """Serve corpora and knowledge graphs over HTTP, with a page to work with.

    Without tokens the service is for this machine alone. It ends when it is interrupted.
    """
    if ctx.invoked_subcommand is not None:
        return
    from kgp_neo4j.serve.app import check_address, listen, run
    from kgp_neo4j.serve.service import Service
    from kgp_neo4j.serve.tokens import Tokens

    check_address(host, tokens)
    known = Tokens(tokens) if tokens is not None else None
    models = [_options.opened_model(name, chat_url) for name in llm or (None,)]
    with listen(host, port) as heard, opened_database() as database:
        named = list({model.name: model for model in models if model}.values())
        service = Service(database, settings=settings, tokens=known, models=named)
        service.warm()
        at = f"[{host}]" if ":" in host else host
        page = f"http://{at}:{heard.getsockname()[1]}/"
        say(f"The page: {page}  (the calls: {page}docs)")
        run(service, heard, log_json=log_json)


@serve_command.command("token")
@click.argument("name")
@click.option(
    "--tokens",
    required=True,
    type=_options.FILE,
    metavar="FILE",
    help="The file of tokens; made where there is none, readable by you alone.",
)
@click.option("--corpus", "corpora", multiple=True, metavar="NAME", help="A corpus; * for all.")
@click.option("--graph", "graphs", multiple=True, metavar="NAME", help="A graph; * for all.")
@click.option(
    "--right",
    "rights",
    multiple=True,
    default=("read",),
    show_default=True,
    type=click.Choice(("read", "load", "admin")),
    help="What it may do: ask and look; load and delete documents; delete corpora, see metrics.",
)
def token(name: str, tokens: Path, **access: Any) -> None:
    """Make a token named NAME and print it, once: the file has only its hash.

    A service that runs takes it at once.
    """
    from kgp_neo4j.serve.tokens import add_token

    click.echo(add_token(tokens, name, **access))


@click.command("mcp")
@_options.corpus_option(required=False, help="The corpus that is asked where a call names none")
@_options.graph_option(required=False, help="The same for the knowledge graph")
def mcp_command(corpus: str | None, graph: str | None) -> None:
    """Serve the tools corpora, ask, retrieve, explore and mind_map on standard input and output.

    A client of the Model Context Protocol starts this command itself. It only reads; messages for
    people go to standard error. It ends with its input.
    """
    from kgp_neo4j.integrations.mcp import make_server

    with opened_database(read_only=True) as database:
        make_server(database, corpus=corpus, graph=graph).run("stdio")
