"""Puts a home on another line of Neo4j, whose server upgrades a copy of its data.

The older data stay where they are, as the backup: until the copy has been upgraded and renamed,
they are those of the home.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, rmtree

from kgp_neo4j.environment.disk import disk_errors, require_free
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.server.artifacts import load_lock
from kgp_neo4j.graphdb.server.jars import install
from kgp_neo4j.graphdb.server.lines import LINES, Line, has_data, line_of
from kgp_neo4j.graphdb.server.process import read_state
from kgp_neo4j.graphdb.server.supervise import lock_home, start_once, stop_locked
from kgp_neo4j.types.errors import KgpError, ServerError

_Echo = Callable[[str], object]
_LEAST_FREE = 500_000_000  # bytes beside the copy: logs of the upgrade, indexes that are made anew


@dataclass(frozen=True, slots=True)
class Used:
    """What `use` has done."""

    #: The version of Neo4j that the home has now, and the folder of its data.
    version: str
    data: str
    #: The folder with the data as they were before, where they were upgraded.
    backup: str | None = None


def use(folders: Folders, name: str, *, echo: _Echo = lambda _: None) -> Used:
    """Put the home on the line `name` of Neo4j, upgrading its data.

    Its server is stopped then, and started again afterwards. Raises ServerError where the data are
    of a newer line, or cannot be upgraded: they stay as they were, and so does the home's line.
    """
    home, line = folders.home, LINES[name]
    with lock_home(home, echo):
        present = line_of(home)
        old, new = home / present.data, home / line.data
        if present == line or not has_data(old):
            # A line has its folder, and of two without data one is enough.
            with disk_errors(new, "The folder could not be made"):
                if new != old and old.is_dir():
                    rmtree(old)
                new.mkdir(mode=0o700, exist_ok=True)
            return Used(load_lock(name).version(), str(new))
        order = list(LINES.values())
        if order.index(line) < order.index(present):
            raise ServerError(
                f"The data are of Neo4j {present.name}, which {name} cannot read",
                where=str(old),
                hint="Export what you want to keep (kgp-neo4j export), stop the server, move that "
                "folder elsewhere, run this again, and import it."
                + (f" {new} has the data of before the upgrade." if has_data(new) else ""),
            )
        state = read_state(home)
        memory = f"{state.heap + state.page_cache}m" if state else None
        try:
            ran = _upgrade(folders, line, old, new, memory, echo)
        except KgpError as error:
            raise ServerError(
                f"The data could not be upgraded to Neo4j {name}: {error.what}",
                where=error.where or str(home),
                hint=f"{error.hint or ''} The data are as they were, and so is the server: Neo4j "
                f"{present.name}.",
            ) from error
        if ran:
            start_once(folders, line, new, memory, echo)
        return Used(load_lock(name).version(), str(new), str(old))


def _upgrade(
    folders: Folders, line: Line, old: Path, new: Path, memory: str | None, echo: _Echo
) -> bool:
    """Upgrade a copy of the data and make it the home's; return whether the older server ran."""
    install(folders.cache, line.name, echo=echo)  # before the server of the older line is stopped
    size = sum(path.stat().st_size for path in old.rglob("*") if path.is_file())
    require_free(folders.home, size + _LEAST_FREE, "The copy of the data and its upgrade")
    ran = stop_locked(folders.home) != "not running"
    part = new.with_name(f"{new.name}.part")
    try:
        with disk_errors(part, "The data could not be copied"):
            echo(f"Copying the data, {size / 1e6:.0f} MB")
            rmtree(part, ignore_errors=True)  # what an upgrade that was cut off has left
            copytree(old, part)
            try:
                with Database(start_once(folders, line, part, memory, echo)) as database:
                    database.read("inspect/server")  # waits until the database is there, upgraded
            finally:
                stop_locked(folders.home)
            part.rename(new)
    finally:
        rmtree(part, ignore_errors=True)
    return ran
