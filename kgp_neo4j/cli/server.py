"""`kgp-neo4j server`, `install`, `doctor`, `config`, `browser-queries`: what is set up, and how."""

from __future__ import annotations

import json
import re
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile, ZipInfo

import click

from kgp_neo4j.cli import _options, _output
from kgp_neo4j.cli._options import FILE, corpus_option, default_option, graph_option
from kgp_neo4j.cli._output import opened_database, say
from kgp_neo4j.environment import configuration
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.server.jars import LINES
from kgp_neo4j.text.safe import parts, plain
from kgp_neo4j.types.errors import ConfigurationError, ServerError
from kgp_neo4j.types.settings import ServeSettings

if TYPE_CHECKING:
    from kgp_neo4j.graphdb.server.startup import ServerStatus

_home = click.option(
    "--home",
    "folders",
    type=click.Path(path_type=Path, file_okay=False),
    callback=lambda _, __, home: Folders.from_environment(home),
    help="Folder of the data, logs and password (or KGP_NEO4J_HOME).",
)

#: What is said of the results of stopping it.
_STOPPED = {
    "stopped": "The server is stopped.",
    "killed": "The server did not stop in time and was killed; its next start recovers the data.",
    "not running": "No server was running.",
}


@click.group("server", cls=_output.ResultGroup)
def server_command() -> None:
    """Start, stop and look at the embedded Neo4j database.

    Other commands start it by themselves when they need it and NEO4J_URI is not set.
    """


def _show(status: ServerStatus) -> None:
    running = click.style("running", fg="green") if status.running else "not running"
    if status.pid and not status.running:
        running = click.style("starting, or not answering", fg="yellow")
    where = f" on Java {status.java}, process {status.pid}" if status.pid else ""
    fields = [("server", running), ("version", f"Neo4j {status.version}{where}")]
    if status.pid:
        memory = f"heap {status.heap} MiB, page cache {status.page_cache} MiB"
        fields += [("address", f"{status.uri}"), ("browser", f"{status.browser}/browser/")]
        fields.append(("memory", memory))
    if status.since:
        since = datetime.fromisoformat(status.since).astimezone()
        fields.append(("since", f"{since:%Y-%m-%d %H:%M:%S}"))
    fields += [("home", str(status.home)), ("data", str(status.data))]
    _output.print_fields(*fields, ("password", f"in {status.password_file}"))


@server_command.command("start")
@_home
@click.option("--memory", metavar="SIZE", help="Heap and page cache together, such as 3g.")
@click.option("--verify", is_flag=True, help="Check the SHA-256 of every jar again.")
def start_command(folders: Folders, memory: str | None, verify: bool) -> None:
    """Start the database, fetching it on first use (170 MB)."""
    from kgp_neo4j.graphdb.server import startup as server

    server.start(folders, memory=memory, verify=verify, echo=_output.say)
    _output.print_result(server.status(folders), _show)


@server_command.command("stop")
@_home
def stop_command(folders: Folders) -> None:
    """Stop the database; the data stays."""
    from kgp_neo4j.graphdb.server import startup as server

    result = server.stop(folders, echo=_output.say)
    _output.print_result({"result": result, "home": str(folders.home)}, _STOPPED[result])


@server_command.command("use")
@click.argument("line", type=click.Choice(list(LINES)))
@_home
def use_command(line: str, folders: Folders) -> None:
    """Put the database on a line of Neo4j: 5.26 (LTS, the default) or 2026.

    Data of an older line are copied, and the copy is upgraded; the older ones stay, as the backup.
    Until that has succeeded nothing changes. There is no way back for the upgraded data, but by
    export and import.
    """
    from kgp_neo4j.graphdb.server.startup import use

    used = use(folders, line, echo=_output.say)
    text = f"The server is Neo4j {used.version} now; its data are in {used.data}."
    if used.backup:
        text += f"\nThey are as before the upgrade in {used.backup}: delete it once you are sure."
    _output.print_result(used, text)


@server_command.command("status")
@_home
def status_command(folders: Folders) -> None:
    """Show whether the database runs, where, and with how much memory."""
    from kgp_neo4j.graphdb.server import startup as server

    _output.print_result(server.status(folders), _show)


@server_command.command("logs", cls=click.Command)
@_home
@click.option("-n", "--lines", default=30, show_default=True, type=click.IntRange(0))
@click.option("--debug", "debug", is_flag=True, help="Show debug.log, the most detailed one.")
def logs_command(folders: Folders, lines: int, debug: bool) -> None:
    """Show the last lines of the database's log."""
    from kgp_neo4j.graphdb.server import startup

    path = folders.home / "logs" / ("debug.log" if debug else "neo4j.log")
    if not path.is_file():
        hint = "Start the server: kgp-neo4j server start."
        raise ServerError("There is no log yet", where=str(path), hint=hint)
    click.echo("\n".join(startup.tail(path, lines)))


@server_command.command("open")
@_home
@click.option("--show-password", is_flag=True, help="Print the password.")
def open_command(folders: Folders, show_password: bool) -> None:
    """Open Neo4j Browser on the database, starting it if it does not run."""
    import webbrowser

    from kgp_neo4j.graphdb.server import startup as server

    connection = server.ensure(folders, echo=_output.say)
    where = server.password_file(folders.home)
    address = connection.browser_address or ""
    secret = parts(connection, "password") if show_password else {}
    record = {"browser": address, **parts(connection, "uri", "username")}
    if _output.gave_json(record | {"password_file": str(where)} | secret):
        return
    password = connection.password if show_password else f"in {where}"
    _output.print_fields(
        ("browser", address), ("user", connection.username), ("password", password)
    )
    if not webbrowser.open(address):
        _output.say("No web browser was found here: open the address above in yours.")


@_output.result_command("install")
@click.option(
    "--jar",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Copy the plugin into a server's folder for plugins, which it reads when it starts.",
)
def install_command(jar: Path | None) -> None:
    """Create the schema, and tell whether Browser users have the procedures custom.kgp.*.

    The embedded server has them. A server of your own needs the plugin kgp-procedures.jar: without
    it everything works but the procedures.
    """
    from kgp_neo4j.graphdb.database import copy_plugin, install
    from kgp_neo4j.types.corpus import InstallReport

    if jar is not None:
        done = InstallReport((), f"Copied to {copy_plugin(jar)}. Restart the server.")
        _output.print_result(done, done.note)
        return
    with _output.opened_database() as database:
        done = install(database)
    count = f"{len(done.procedures)} procedures. Try: CALL custom.kgp.help()"
    _output.print_result(done, done.note or count)


@_output.result_command("doctor")
def doctor_command() -> None:
    """Show the server's version, plugins and memory, what runs the models, and what is missing."""
    from kgp_neo4j.environment.folders import Folders
    from kgp_neo4j.environment.kinds import installed_extras
    from kgp_neo4j.graphdb.database import missing, needs
    from kgp_neo4j.graphdb.server import startup
    from kgp_neo4j.llm.chat import HOW_TO_GET_ONE, available
    from kgp_neo4j.models.engine import describe_engine

    with _output.opened_database() as database:
        capabilities = database.capabilities()
        connection = database.connection
        server = startup.status(Folders.from_environment()) if connection.embedded else None
        needed = needs(database, server, startup.machine_memory())
    lacks = [*missing(capabilities), *needed["short"]]
    engine, extras = describe_engine(), installed_extras()
    there: list[str] = []
    try:
        for each in available(configuration.language_settings()):
            there.append(plain(f"{each.model} at {each.url}" if each.url else f"{each.model}"))
    except ConfigurationError as error:
        lacks.append(str(error))
    found = {"server": capabilities, "missing": lacks, "needs": needed}
    found |= {"models": engine, "language_models": there, "extras": extras}
    if _output.gave_json(parts(connection, "uri", "database", "embedded") | found):
        return
    encoders = needed["encoders"]
    kind = "embedded" if connection.embedded else "from NEO4J_URI"
    version = f"{capabilities.version} {capabilities.edition}"
    more = {e: f" and {len(names) - 5} more" for e, names in encoders.items() if names[5:]}
    sizes = [("vectors", needed["vectors"]), ("graph", needed["store"])]
    _output.print_fields(
        ("server", f"Neo4j {version} at {connection.uri} ({kind})"),
        ("GDS", "yes" if capabilities.gds else "missing"),
        ("procedures", f"{len(capabilities.procedures)} custom.kgp.*"),
        ("models", f"{engine['engine']}, {engine['precision']}, {engine['threads']} threads"),
        *(
            ("encoder", f"{each}: {', '.join(names[:5])}{more.get(each, '')}")
            for each, names in encoders.items()
        ),
        ("language", ", ".join(there) or f"none. {HOW_TO_GET_ONE}"),
        ("extras", ", ".join(extras) or "none"),
        ("needs", ", ".join(f"{name} {n / 2**20:,.0f} MiB" for name, n in sizes if n is not None)),
    )
    for sentence in lacks:
        click.echo(click.style("! ", fg="yellow") + sentence)


@_output.result_command("plugins")
def plugins_command() -> None:
    """List what is plugged in: the parts of each kind by their names, and whose they are."""
    from kgp_neo4j.plugins import KINDS, plugged

    own, told = "kgp-neo4j", dict[str, list[str]]()
    records = [
        {"kind": kind, "name": each.name, "package": each.dist.name if each.dist else own,
         "part": each.value}
        for kind in KINDS
        for each in plugged(kind).values()
    ]  # fmt: skip
    for each in records:
        told.setdefault(f"{each['kind']:10} {each['package']}", []).append(each["name"])
    lines = [f"{whose}: {', '.join(names)}" for whose, names in told.items()]
    _output.print_result(records, "\n".join(lines))


@_output.result_command("config")
@click.option("--clear-cache", is_flag=True, help="Delete the replies of language models kept.")
def config_command(clear_cache: bool) -> None:
    """Show every setting, its value, and where it comes from; keys are never shown."""
    if clear_cache:
        from kgp_neo4j.llm.chat import reply_cache

        # Where the cache is off, clear the replies stored before.
        settings = configuration.language_settings()
        cache = reply_cache(settings.cache or configuration.replies_folder())
        count = cache.clear()
        record = {"deleted": count, "file": cache.path}
        _output.print_result(record, f"{count:,} replies deleted ({cache.path})")
        return
    rows, file = configuration.setting_lines(), configuration.settings_file()
    is_there = file is not None and file.is_file()
    if _output.gave_json({"file": str(file) if is_there else "", "settings": rows}):
        return
    name = max(len(row.name) for row in rows)
    value = min(40, max(len(_text(row.value)) for row in rows))
    for row in rows:
        line = f"{row.name:{name}}  {_text(row.value):{value}}  {row.source} {row.where}".rstrip()
        click.echo(click.style(line, dim=True) if row.source == "default" else line)
    click.echo(f"\nThe file of settings: {file or 'none'}{'' if is_there else ' (not there)'}")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "-" if value is None else str(value)


_FOLDER = "kgp-neo4j/"


@_output.result_command("browser-queries")
@default_option("--out", Path("kgp-neo4j.zip"), "The file to write.", type=FILE)
@corpus_option(required=False, help="The corpus that the queries ask; demo when none is named")
@graph_option(required=False, help="The knowledge graph that they ask; demo when none is named")
def browser_queries_command(out: Path, corpus: str | None, graph: str | None) -> None:
    """Write the procedures as queries that Neo4j Browser and Aura's Query tool import.

    They need no plugin, and writing them no database. Import the file as saved Cypher, run
    `parameters` first, then any other.
    """
    from kgp_neo4j.environment.disk import replacing
    from kgp_neo4j.graphdb.statements import LANGUAGE, folder

    names = {"CORPUS": corpus or "demo", "GRAPH": graph or "demo"}
    quoted = {mark: json.dumps(name, ensure_ascii=False) for mark, name in names.items()}
    values = files("kgp_neo4j.cypher").joinpath("browser", "parameters.txt").read_text("utf-8")
    values = re.sub("CORPUS|GRAPH", lambda mark: quoted[mark[0]], values)
    queries = {
        procedure.name.removeprefix("kgp."): procedure.text
        for procedure in folder("procedures")
        if procedure.inputs  # all but the list of the procedures
    }
    # A page's number is an integer, a table's is text, and a parameter has one value for all.
    queries["table"] = queries["table"].replace("$number", "$tableNumber")
    # Browser takes a query's name from its first line and makes the folder by the file's path; the
    # Query tool takes the name of the file, and needs the folder as an entry.
    with replacing(out, private=False) as file, ZipFile(file, "w") as archive:
        archive.writestr(ZipInfo(_FOLDER), "")
        archive.writestr(ZipInfo(f"{_FOLDER}parameters.cypher"), values)
        for name, text in queries.items():
            saved = f"// {name}\n{LANGUAGE.strip()}\n{text}\n"
            # All are dated 1980, so that the same queries are the same file.
            archive.writestr(ZipInfo(f"{_FOLDER}{name}.cypher"), saved)
    told = f"Written: {out}, {len(queries)} queries and their parameters"
    _output.print_result({"file": str(out), "queries": list(queries)}, lambda _: _output.say(told))


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
