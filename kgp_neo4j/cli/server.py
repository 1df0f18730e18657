"""`kgp-neo4j server`: the embedded database."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgp_neo4j.cli._options import ResultGroup
from kgp_neo4j.cli._output import gave_json, print_fields, print_result, say
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.server.lines import LINES
from kgp_neo4j.types.errors import ServerError
from kgp_neo4j.types.json_records import parts

if TYPE_CHECKING:
    from kgp_neo4j.graphdb.server.supervise import ServerStatus

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


@click.group("server", cls=ResultGroup)
def command() -> None:
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
    print_fields(*fields, ("password", f"in {status.password_file}"))


@command.command("start")
@_home
@click.option("--memory", metavar="SIZE", help="Heap and page cache together, such as 3g.")
@click.option("--verify", is_flag=True, help="Check the SHA-256 of every jar again.")
def start_command(folders: Folders, memory: str | None, verify: bool) -> None:
    """Start the database, fetching it on first use (170 MB)."""
    from kgp_neo4j.graphdb.server import supervise as server

    server.start(folders, memory=memory, verify=verify, echo=say)
    print_result(server.status(folders), _show)


@command.command("stop")
@_home
def stop_command(folders: Folders) -> None:
    """Stop the database; the data stays."""
    from kgp_neo4j.graphdb.server import supervise as server

    result = server.stop(folders, echo=say)
    print_result({"result": result, "home": str(folders.home)}, _STOPPED[result])


@command.command("use")
@click.argument("line", type=click.Choice(list(LINES)))
@_home
def use_command(line: str, folders: Folders) -> None:
    """Put the database on a line of Neo4j: 5.26 (LTS, the default) or 2026.

    Data of an older line are copied, and the copy is upgraded; the older ones stay, as the backup.
    Until that has succeeded nothing changes. There is no way back for the upgraded data, but by
    export and import.
    """
    from kgp_neo4j.graphdb.server.supervise import use

    used = use(folders, line, echo=say)
    text = f"The server is Neo4j {used.version} now; its data are in {used.data}."
    if used.backup:
        text += f"\nThey are as before the upgrade in {used.backup}: delete it once you are sure."
    print_result(used, text)


@command.command("status")
@_home
def status_command(folders: Folders) -> None:
    """Show whether the database runs, where, and with how much memory."""
    from kgp_neo4j.graphdb.server import supervise as server

    print_result(server.status(folders), _show)


@command.command("logs", cls=click.Command)
@_home
@click.option("-n", "--lines", default=30, show_default=True, type=click.IntRange(0))
@click.option("--debug", "debug", is_flag=True, help="Show debug.log, the most detailed one.")
def logs_command(folders: Folders, lines: int, debug: bool) -> None:
    """Show the last lines of the database's log."""
    from kgp_neo4j.graphdb.server import process

    path = folders.home / "logs" / ("debug.log" if debug else "neo4j.log")
    if not path.is_file():
        hint = "Start the server: kgp-neo4j server start."
        raise ServerError("There is no log yet", where=str(path), hint=hint)
    click.echo("\n".join(process.tail(path, lines)))


@command.command("open")
@_home
@click.option("--show-password", is_flag=True, help="Print the password.")
def open_command(folders: Folders, show_password: bool) -> None:
    """Open Neo4j Browser on the database, starting it if it does not run."""
    import webbrowser

    from kgp_neo4j.graphdb.server import supervise as server
    from kgp_neo4j.graphdb.server.startup import password_file

    connection = server.ensure(folders, echo=say)
    where = password_file(folders.home)
    address = connection.browser_address or ""
    secret = parts(connection, "password") if show_password else {}
    record = {"browser": address, **parts(connection, "uri", "username")}
    if gave_json(record | {"password_file": str(where)} | secret):
        return
    password = connection.password if show_password else f"in {where}"
    print_fields(("browser", address), ("user", connection.username), ("password", password))
    if not webbrowser.open(address):
        say("No web browser was found here: open the address above in yours.")
