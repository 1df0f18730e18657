"""A class-data archive of the server: a third less work at every start after the first.

The first start of an installation notes which classes it loads. Once it answers, a process of low
priority stores those classes, parsed and verified, in one file of about 160 MB in the cache, which
the JVM maps into memory from then on. Nothing depends on it: without the file, starts are slower.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from kgp_neo4j.server.configuration import argument_file, class_path_option
from kgp_neo4j.server.install import Installation
from kgp_neo4j.server.java import Java

__all__ = ["archive_options", "make_archive"]

_ROOM = 500_000_000  # bytes: below this the disk has better uses
_LONGEST = 4000  # characters; the JVM refuses a class list with longer lines
_PATIENCE = 900  # seconds
_RUN = (
    "import sys, pathlib; from kgp_neo4j.server.archive import build; "
    "build(sys.argv[1], *map(pathlib.Path, sys.argv[2:]))"
)


def _archive(cache: Path, installed: Installation, java: Java) -> Path:
    """Return where the archive of this very class path and Java is kept."""
    key = "\n".join([str(java.home), java.version, *map(str, installed.class_path)])
    return cache / "classes" / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.jsa"


def _list(home: Path) -> Path:
    return home / "run" / "classes.txt"


def archive_options(cache: Path, home: Path, installed: Installation, java: Java) -> list[str]:
    """Return the JVM options that use the archive, or that prepare for making it."""
    path = _archive(cache, installed, java)
    if path.is_file():
        # The JVM checks the archive against its class path, and starts without one that is stale.
        return ["-Xshare:auto", f"-XX:SharedArchiveFile={path}"]
    if path.with_suffix(".log").exists():
        return []  # being made, or could not be made
    return [f"-XX:DumpLoadedClassList={_list(home)}"]


def make_archive(cache: Path, home: Path, installed: Installation, java: Java) -> None:
    """Begin to make the archive in the background, once, where there is room for it."""
    path = _archive(cache, installed, java)
    log = path.with_suffix(".log")
    if path.exists() or log.exists() or not _list(home).is_file():
        return
    with contextlib.suppress(OSError):  # an improvement only: never a reason to fail
        path.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(path.parent).free < _ROOM:
            return
        options = path.with_suffix(".args")
        argument_file(options, ["-XX:+UseG1GC", "-Xmx512m", *class_path_option(installed)])
        with log.open("xb") as output:  # x: only one of several processes makes it
            subprocess.Popen(
                [sys.executable, "-c", _RUN, str(java.command), str(_list(home)), str(path)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ).returncode = 0  # it is not ours to wait for


def build(java: str, listed: Path, archive: Path) -> None:
    """Do the work, in the process that `make_archive` started."""
    if hasattr(os, "nice"):
        os.nice(15)
    # The server still writes to its list: what follows the last line end is not a line yet.
    whole = listed.read_text(encoding="utf-8", errors="replace").rpartition("\n")[0]
    classes = archive.with_suffix(".txt")
    kept = [line for line in whole.splitlines() if len(line) < _LONGEST]
    classes.write_text("\n".join(kept) + "\n", encoding="utf-8")
    fresh = archive.with_suffix(".new")
    try:
        subprocess.run(
            [
                java,
                "-Xshare:dump",
                "-Xlog:cds=error",
                f"-XX:SharedClassListFile={classes}",
                f"-XX:SharedArchiveFile={fresh}",
                f"@{archive.with_suffix('.args')}",
            ],
            check=True,
            timeout=_PATIENCE,
        )
        fresh.replace(archive)
    finally:
        for rest in (fresh, classes, listed, archive.with_suffix(".args")):
            rest.unlink(missing_ok=True)
