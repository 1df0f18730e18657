"""Makes a class-data archive of the server, which halves the time of each start after the first.

Without it, a server lists the classes that it loads. Later a Java of low priority stores those
classes, parsed and verified, in one file of about 170 MB in the cache, which the JVM then maps into
memory. A process that starts with the server waits for the time to do so: ten minutes, or its end.
Where the file cannot be made, starts are only slower.
"""

import contextlib
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import psutil
from filelock import FileLock

from kgp_neo4j.graphdb.server.jars import Installation
from kgp_neo4j.graphdb.server.process import launch, running
from kgp_neo4j.graphdb.server.startup import Java, argument_file
from kgp_neo4j.types.errors import ServerError

_LEAST_FREE = 500_000_000  # bytes free on the disk
_LONGEST_LINE = 4000  # characters; the JVM refuses a class list with longer lines
_CLASSES = "run/classes.txt"
_FIRST = 600.0  # seconds in which nothing stands in the way of who began to use the server


def archive_options(
    cache: Path, home: Path, installed: Installation, java: Java, browser: Path
) -> list[str]:
    """Return the class path, and the JVM options to use the archive or to list classes for it.

    `browser` is the jar that Neo4j Browser is served from. It changes with our style and guide, has
    no classes and comes last: the JVM accepts an archive whose class path is a prefix of its own.
    """
    archive = _archive(cache, installed, java)
    options = ["-cp", os.pathsep.join(map(str, (*installed.class_path, browser)))]
    if archive.is_file():
        # The JVM checks the archive against its class path and ignores it when it is stale.
        return [*options, f"-XX:SharedArchiveFile={archive}"]
    # A tenth of such a start would go into verifying classes; their jars' SHA-256 is verified.
    options += ["-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"]
    return [*options, f"-XX:DumpLoadedClassList={home / _CLASSES}"]


def make_archive(cache: Path, home: Path, installed: Installation, java: Java) -> None:
    """Start the process that makes the archive, once nothing is in its way."""
    archive = _archive(cache, installed, java)
    if archive.exists():
        return
    dump = [
        "-Xshare:dump",
        "-Xlog:cds=error",
        f"-XX:SharedClassListFile={archive.with_suffix('.txt')}",
        f"-XX:SharedArchiveFile={archive.with_suffix('.part')}",
        "-XX:+UseG1GC",  # only this collector can archive objects; the server's can read them
        "-Xmx512m",
        *("-cp", os.pathsep.join(map(str, installed.class_path))),
    ]
    maker = [sys.executable, "-m", __name__, str(java.command), str(archive), str(home)]
    with contextlib.suppress(OSError, ServerError):  # an improvement only: never a reason to fail
        argument_file(archive.with_suffix(".args"), dump)
        launch(maker, archive.parent, archive.with_suffix(".log"))


def _make(java: str, archive: Path, home: Path) -> None:
    """Make the archive, when it is time to; raises filelock.Timeout where another is about to."""
    with FileLock(archive.with_suffix(".lock"), timeout=0):
        if state := running(home):
            with contextlib.suppress(psutil.Error):
                psutil.Process(state.pid).wait(_FIRST)
        if psutil.disk_usage(str(archive.parent)).free < _LEAST_FREE:
            return
        # A server that runs still writes its list: what follows the last line end is incomplete.
        lines = (home / _CLASSES).read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
        chosen = "".join(f"{line}\n" for line in lines if len(line) < _LONGEST_LINE)
        archive.with_suffix(".txt").write_text(chosen, "utf-8")
        subprocess.run([java, f"@{archive.with_suffix('.args')}"], check=True)
        archive.with_suffix(".part").replace(archive)


def _archive(cache: Path, installed: Installation, java: Java) -> Path:
    key = "\n".join([str(java.home), java.version, *map(str, installed.class_path)])
    return cache / "classes" / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.jsa"


if __name__ == "__main__":
    psutil.Process().nice(15 if psutil.POSIX else psutil.IDLE_PRIORITY_CLASS)
    _make(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
