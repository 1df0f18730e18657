"""Makes a class-data archive of the server, which halves the time of each start after the first.

The first start of an installation lists the classes that it loads. Once the server answers, a Java
of low priority stores those classes, parsed and verified, in one file of about 170 MB in the cache,
which the JVM then maps into memory. Without the file, starts are only slower.
"""

import contextlib
import hashlib
import subprocess
from pathlib import Path

import psutil

from kgp_neo4j.graphdb.server.jars import Installation
from kgp_neo4j.graphdb.server.java import Java
from kgp_neo4j.graphdb.server.neo4j_conf import argument_file, class_path_option
from kgp_neo4j.types.errors import ServerError

_LEAST_FREE = 500_000_000  # bytes free on the disk
_LONGEST_LINE = 4000  # characters; the JVM refuses a class list with longer lines


def archive_options(
    cache: Path, home: Path, installed: Installation, java: Java, browser: Path
) -> list[str]:
    """Return the class path, and the JVM options to use the archive or to list classes for it.

    `browser` is the jar that Neo4j Browser is served from. It changes with our style and guide, has
    no classes and comes last: the JVM accepts an archive whose class path is a prefix of its own.
    """
    archive = _archive(cache, installed, java)
    options = class_path_option([*installed.class_path, browser])
    if archive.is_file():
        # The JVM checks the archive against its class path and ignores it when it is stale.
        options.append(f"-XX:SharedArchiveFile={archive}")
    elif not archive.with_suffix(".log").exists():  # neither being made, nor impossible
        options.append(f"-XX:DumpLoadedClassList={_class_list(home)}")
    return options


def make_archive(cache: Path, home: Path, installed: Installation, java: Java) -> None:
    """Start making the archive in the background, once, where there is room for it."""
    archive, classes = _archive(cache, installed, java), _class_list(home)
    if archive.exists() or not classes.is_file():
        return
    with contextlib.suppress(OSError, ServerError):  # an improvement only: never a reason to fail
        if psutil.disk_usage(str(archive.parent)).free < _LEAST_FREE:
            return
        # Mode x: only one of several processes makes it.
        with archive.with_suffix(".log").open("xb") as output:
            # The server still writes its list: the text after the last line end is incomplete.
            lines = classes.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
            chosen = archive.with_suffix(".txt")
            chosen.write_text(
                "".join(f"{line}\n" for line in lines if len(line) < _LONGEST_LINE), "utf-8"
            )
            options = archive.with_suffix(".args")
            dump = [
                "-Xshare:dump",
                "-Xlog:cds=error",
                f"-XX:SharedClassListFile={chosen}",
                f"-XX:SharedArchiveFile={archive}",
                # Only this collector can archive objects; the server's can read them.
                "-XX:+UseG1GC",
                "-Xmx512m",
            ]
            argument_file(options, [*dump, *class_path_option(installed.class_path)])
            child = subprocess.Popen(
                [str(java.command), f"@{options}"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        with contextlib.suppress(psutil.Error):
            psutil.Process(child.pid).nice(15 if psutil.POSIX else psutil.IDLE_PRIORITY_CLASS)
        child.returncode = 0  # prevents a warning that the process was not waited for


def _archive(cache: Path, installed: Installation, java: Java) -> Path:
    """Return the path of the archive for this class path and Java."""
    key = "\n".join([str(java.home), java.version, *map(str, installed.class_path)])
    return cache / "classes" / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.jsa"


def _class_list(home: Path) -> Path:
    return home / "run" / "classes.txt"
