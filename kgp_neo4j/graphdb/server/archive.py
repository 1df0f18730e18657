"""A class-data archive of the server: half the work at every start after the first.

The first start of an installation notes which classes it loads. Once it answers, a process of low
priority stores those classes, parsed and verified, in one file of about 170 MB in the cache, which
the JVM maps into memory from then on. Nothing depends on it: without the file, starts are slower.

The JVM archives no class of a signed jar, and checks the signature of each that it loads. The jars
were compared with their SHA-256 before, so that the archive is made of, and used with, copies of
the signed ones without their signatures.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from kgp_neo4j.graphdb.server.browser import browser_jar
from kgp_neo4j.graphdb.server.jars import Installation
from kgp_neo4j.graphdb.server.java import Java
from kgp_neo4j.graphdb.server.neo4j_conf import argument_file, class_path_option

__all__ = ["archive_options", "make_archive"]

_ROOM = 500_000_000  # bytes: below this the disk has better uses
_LONGEST = 4000  # characters; the JVM refuses a class list with longer lines
_PATIENCE = 900  # seconds
# Bouncy Castle's jars are signed too: some Javas ask it of them, and none of it is loaded.
_SIGNED = "eclipse-collections-"
_SIGNATURE = re.compile(r"META-INF/[^/]+\.(SF|RSA|DSA|EC)")
_DELAY = 60  # seconds: until then the first commands of an installation have the cores
_RUN = (
    "import sys, pathlib; from kgp_neo4j.graphdb.server.archive import build; "
    "build(sys.argv[1], *map(pathlib.Path, sys.argv[2:]))"
)


def _copies(cache: Path, installed: Installation) -> dict[Path, Path]:
    """Return the signed jars, and where their copies without signatures are kept."""
    signed = [jar for jar in installed.class_path if jar.name.startswith(_SIGNED)]
    return {jar: cache / "classes" / jar.name for jar in signed}


def _archived(cache: Path, installed: Installation) -> list[Path]:
    """Return the class path of the archive.

    The JVM takes an archive whose class path is the beginning of its own. Browser's jar, which
    changes with our style and guide, holds no classes and comes last.
    """
    copies, browser = _copies(cache, installed), browser_jar(installed)
    return [copies.get(jar, jar) for jar in installed.class_path if jar != browser]


def _archive(cache: Path, installed: Installation, java: Java) -> Path:
    """Return where the archive of this very class path and Java is kept."""
    key = "\n".join([str(java.home), java.version, *map(str, _archived(cache, installed))])
    return cache / "classes" / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.jsa"


def _list(home: Path) -> Path:
    return home / "run" / "classes.txt"


def archive_options(
    cache: Path, home: Path, installed: Installation, java: Java, browser: Path
) -> list[str]:
    """Return the class path, and the JVM options that use the archive or prepare for making it.

    `browser` is the jar that Neo4j Browser is served from.
    """
    path = _archive(cache, installed, java)
    copies = _copies(cache, installed)
    if path.is_file() and all(copy.is_file() for copy in copies.values()):
        # The JVM checks the archive against its class path, and starts without one that is stale.
        jars = [*_archived(cache, installed), browser]
        return ["-Xshare:auto", f"-XX:SharedArchiveFile={path}", *class_path_option(jars)]
    own = browser_jar(installed)
    jars = [*(jar for jar in installed.class_path if jar != own), browser]
    if path.with_suffix(".log").exists():
        return class_path_option(jars)  # being made, or could not be made
    return [f"-XX:DumpLoadedClassList={_list(home)}", *class_path_option(jars)]


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
        jars = class_path_option(_archived(cache, installed))
        # Objects can be archived with this collector alone; the server's own reads them too.
        argument_file(options, ["-XX:+UseG1GC", "-Xmx512m", *jars])
        paths = map(str, (java.command, _list(home), path, *_copies(cache, installed)))
        with log.open("xb") as output:  # x: only one of several processes makes it
            subprocess.Popen(
                [sys.executable, "-c", _RUN, *paths],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ).returncode = 0  # it is not ours to wait for


def build(java: str, listed: Path, archive: Path, *signed: Path) -> None:
    """Do the work, in the process that `make_archive` started."""
    if hasattr(os, "nice"):
        os.nice(15)
    # The server still writes to its list: what follows the last line end is not a line yet.
    whole = listed.read_text(encoding="utf-8", errors="replace").rpartition("\n")[0]
    time.sleep(_DELAY)  # the list is read before, since its home may be gone by then
    for jar in signed:
        unsign(jar, archive.parent / jar.name)
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


def unsign(jar: Path, copy: Path) -> None:
    """Copy a jar without its signature; a copy that is there stays, as other archives use it."""
    if copy.is_file():
        return
    fresh = copy.with_suffix(f".{os.getpid()}")
    try:
        with ZipFile(jar) as source, ZipFile(fresh, "w", ZIP_DEFLATED) as out:
            for entry in source.infolist():
                if not _SIGNATURE.fullmatch(entry.filename):
                    out.writestr(entry, source.read(entry))
        fresh.replace(copy)
    finally:
        fresh.unlink(missing_ok=True)
