"""Makes the schema of a database, and tells which of our procedures its server has."""

import shutil
from importlib import metadata
from pathlib import Path

from kgp_neo4j.environment.disk import disk_errors
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.plugin import JAR, plugin_jar
from kgp_neo4j.graphdb.statements import fingerprint, folder
from kgp_neo4j.types.corpus import Capabilities, InstallReport
from kgp_neo4j.types.errors import ConfigurationError, DatabaseError

#: The number of the graph's layout: labels, properties and types. To be raised with every change
#: that makes a graph of an earlier release unreadable.
LAYOUT = 11


def make_schema(database: Database) -> None:
    """Create the schema unless it is there; raises DatabaseError for another release's layout."""
    if check_layout(database).get("schema") == fingerprint("schema"):
        return
    for statements in folder("schema"):
        database.define(statements)
    database.read("install/await_indexes")
    database.write(
        "install/remember",
        layout=LAYOUT,
        schema=fingerprint("schema"),
        version=metadata.version("kgp-neo4j"),
    )


def check_layout(database: Database) -> Row:
    """Return what is known of an install, else {}; raises DatabaseError for another layout."""
    rows = database.read("install/state")
    if rows and rows[0]["layout"] != LAYOUT:
        version, newer = rows[0]["version"], rows[0]["layout"] > LAYOUT
        raise DatabaseError(
            f"{'a newer' if newer else 'an earlier'} kgp-neo4j ({version}) made the database",
            hint="Upgrade kgp-neo4j."
            if newer
            else "Its graph cannot be read any more: load the documents into a new database. "
            "KGP_NEO4J_HOME names the folder of the embedded one.",
        )
    return rows[0] if rows else {}


def install(database: Database) -> InstallReport:
    """Create the schema, and return which procedures the server has, with what is missing.

    Raises DatabaseError where another release with another layout of the graph has used it.
    """
    make_schema(database)
    capabilities = database.capabilities()
    return InstallReport(capabilities.procedures, note=_advice(capabilities))


def copy_plugin(plugins: Path) -> Path:
    """Copy our plugin into a server's folder, return the path; raises ConfigurationError else."""
    if not plugins.is_dir():
        hint = "Name the server's folder for plugins (server.directories.plugins)."
        raise ConfigurationError(f"there is no folder {plugins}", hint=hint)
    with disk_errors(plugins / JAR, "The plugin could not be copied"):
        shutil.copyfile(plugin_jar(), plugins / JAR)
    return plugins / JAR


def missing(capabilities: Capabilities) -> list[str]:
    """Return a sentence for each missing plugin, with what does not work without it."""
    gds = "No Graph Data Science: `corpus.gds()` does not work."
    return [*([] if capabilities.gds else [gds]), *filter(None, [_advice(capabilities)])]


def _advice(capabilities: Capabilities) -> str:
    """Return what to do for the procedures of this release; empty where the server has them."""
    if not capabilities.procedures:
        what = "No procedures custom.kgp.*: Browser users have none; the driver works"
    elif capabilities.statements != fingerprint("procedures"):
        what = "The procedures custom.kgp.* are those of another release"
    else:
        return ""
    return (
        f"{what}. Copy {plugin_jar()} into the server's folder `plugins` (`kgp-neo4j install "
        "--jar FOLDER` does it), and restart the server."
    )
