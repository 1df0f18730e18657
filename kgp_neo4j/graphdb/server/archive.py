"""Makes a class-data archive of the server, which halves the time of each start after the first.

The first start of an installation lists the classes that it loads. Once the server answers, a
process of low priority stores those classes, parsed and verified, in one file of about 170 MB in
the cache, which the JVM then maps into memory. Without the file, starts are only slower.

The JVM archives no class of a signed jar, and checks the signature of each that it loads. As the
jars were compared with their SHA-256 before, the archive is made of, and used with, copies of the
signed ones without their signatures.
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

_LEAST_FREE = 500_000_000  # bytes free on the disk
_LONGEST_LINE = 4000  # characters; the JVM refuses a class list with longer lines
_TIMEOUT_SECONDS = 900  # seconds
# Bouncy Castle's jars are signed too, but stay as they are: some Javas require the signature, and
# none of their classes are loaded.
_SIGNED = "eclipse-collections-"
_SIGNATURE = re.compile(r"META-INF/[^/]+\.(SF|RSA|DSA|EC)")
_DELAY_SECONDS = 60  # seconds: until then the first commands of an installation have the cores
_RUN = (
    "import sys, pathlib; from kgp_neo4j.graphdb.server.archive import build; "
    "build(sys.argv[1], *map(pathlib.Path, sys.argv[2:]))"
)


def _copies(cache: Path, installed: Installation) -> dict[Path, Path]:
    """Return the signed jars, each with the path of its copy without a signature."""
    signed = [jar for jar in installed.class_path if jar.name.startswith(_SIGNED)]
    return {jar: cache / "classes" / jar.name for jar in signed}


def _class_path(cache: Path, installed: Installation) -> list[Path]:
    """Return the class path of the archive.

    The JVM accepts an archive whose class path is a prefix of its own. Browser's jar, which changes
    with our style and guide, has no classes and comes last.
    """
    copies, browser = _copies(cache, installed), browser_jar(installed)
    return [copies.get(jar, jar) for jar in installed.class_path if jar != browser]


def _archive(cache: Path, installed: Installation, java: Java) -> Path:
    """Return the path of the archive for this class path and Java."""
    key = "\n".join([str(java.home), java.version, *map(str, _class_path(cache, installed))])
    return cache / "classes" / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.jsa"


def _class_list(home: Path) -> Path:
    return home / "run" / "classes.txt"


def archive_options(
    cache: Path, home: Path, installed: Installation, java: Java, browser: Path
) -> list[str]:
    """Return the class path, and the JVM options to use the archive or to list classes for it.

    `browser` is the jar that Neo4j Browser is served from.
    """
    path = _archive(cache, installed, java)
    copies = _copies(cache, installed)
    if path.is_file() and all(copy.is_file() for copy in copies.values()):
        # The JVM checks the archive against its class path and ignores it when it is stale.
        jars = [*_class_path(cache, installed), browser]
        return ["-Xshare:auto", f"-XX:SharedArchiveFile={path}", *class_path_option(jars)]
    own = browser_jar(installed)
    jars = [*(jar for jar in installed.class_path if jar != own), browser]
    if path.with_suffix(".log").exists():
        return class_path_option(jars)  # being made, or could not be made
    return [f"-XX:DumpLoadedClassList={_class_list(home)}", *class_path_option(jars)]


def make_archive(cache: Path, home: Path, installed: Installation, java: Java) -> None:
    """Start making the archive in the background, once, where there is room for it."""
    path = _archive(cache, installed, java)
    log = path.with_suffix(".log")
    if path.exists() or log.exists() or not _class_list(home).is_file():
        return
    with contextlib.suppress(OSError):  # an improvement only: never a reason to fail
        path.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(path.parent).free < _LEAST_FREE:
            return
        options = path.with_suffix(".args")
        jars = class_path_option(_class_path(cache, installed))
        # Only this collector can archive objects; the server's collector can read them.
        argument_file(options, ["-XX:+UseG1GC", "-Xmx512m", *jars])
        paths = map(str, (java.command, _class_list(home), path, *_copies(cache, installed)))
        with log.open("xb") as output:  # x: only one of several processes makes it
            subprocess.Popen(
                [sys.executable, "-c", _RUN, *paths],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ).returncode = 0  # prevents a warning that the process was not waited for


def build(java: str, listed: Path, archive: Path, *signed: Path) -> None:
    """Make the archive, in the process that `make_archive` started."""
    if hasattr(os, "nice"):
        os.nice(15)
    # The server still writes its list: the text after the last line end is incomplete.
    listing = listed.read_text(encoding="utf-8", errors="replace").rpartition("\n")[0]
    time.sleep(_DELAY_SECONDS)  # after reading the list, as its folder may be deleted by then
    for jar in signed:
        unsign(jar, archive.parent / jar.name)
    classes = archive.with_suffix(".txt")
    kept = [line for line in listing.splitlines() if len(line) < _LONGEST_LINE]
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
            timeout=_TIMEOUT_SECONDS,
        )
        fresh.replace(archive)
    finally:
        for leftover in (fresh, classes, listed, archive.with_suffix(".args")):
            leftover.unlink(missing_ok=True)


def unsign(jar: Path, copy: Path) -> None:
    """Copy a jar without its signature; an existing copy stays, as other archives use it."""
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
