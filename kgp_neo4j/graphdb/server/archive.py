"""Makes a class-data archive of the server, which halves the time of each start after the first.

The first start of an installation lists the classes that it loads. Once the server answers, a Java
of low priority stores those classes, parsed and verified, in one file of about 170 MB in the cache,
which the JVM then maps into memory. Without the file, starts are only slower.

The JVM archives no class of a signed jar, and checks the signature of each that it loads. As the
jars were compared with their SHA-256 before, the archive is made of, and used with, copies of the
signed ones without their signatures.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import subprocess
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import psutil

from kgp_neo4j.environment.disk import replacing
from kgp_neo4j.graphdb.server.browser import browser_jar
from kgp_neo4j.graphdb.server.jars import Installation
from kgp_neo4j.graphdb.server.java import Java
from kgp_neo4j.graphdb.server.neo4j_conf import argument_file, class_path_option
from kgp_neo4j.types.errors import ServerError

__all__ = ["archive_options", "make_archive"]

_LEAST_FREE = 500_000_000  # bytes free on the disk
_LONGEST_LINE = 4000  # characters; the JVM refuses a class list with longer lines
# Bouncy Castle's jars are signed too, but stay as they are: some Javas require the signature, and
# none of their classes are loaded.
_SIGNED = "eclipse-collections-"
_SIGNATURE = re.compile(r"META-INF/[^/]+\.(SF|RSA|DSA|EC)")


def archive_options(
    cache: Path, home: Path, installed: Installation, java: Java, browser: Path
) -> list[str]:
    """Return the class path, and the JVM options to use the archive or to list classes for it.

    `browser` is the jar that Neo4j Browser is served from. It changes with our style and guide, has
    no classes and comes last: the JVM accepts an archive whose class path is a prefix of its own.
    """
    archive, unsigned = _archive(cache, installed, java), _class_path(cache, installed)
    if archive.is_file() and all(jar.is_file() for jar in unsigned):
        # The JVM checks the archive against its class path and ignores it when it is stale.
        return [f"-XX:SharedArchiveFile={archive}", *class_path_option([*unsigned, browser])]
    options = class_path_option([*_own_jars(installed), browser])
    if not archive.with_suffix(".log").exists():  # neither being made, nor impossible
        options.append(f"-XX:DumpLoadedClassList={_class_list(home)}")
    return options


def make_archive(cache: Path, home: Path, installed: Installation, java: Java) -> None:
    """Start making the archive in the background, once, where there is room for it."""
    archive, classes = _archive(cache, installed, java), _class_list(home)
    log = archive.with_suffix(".log")
    if archive.exists() or log.exists() or not classes.is_file():
        return
    with contextlib.suppress(OSError, ServerError):  # an improvement only: never a reason to fail
        archive.parent.mkdir(parents=True, exist_ok=True)
        if psutil.disk_usage(str(archive.parent)).free < _LEAST_FREE:
            return
        with log.open("xb") as output:  # x: only one of several processes makes it
            for jar, copy in zip(_own_jars(installed), _class_path(cache, installed), strict=True):
                if copy != jar and not copy.is_file():
                    _copy_unsigned(jar, copy)
            # The server still writes its list: the text after the last line end is incomplete.
            lines = classes.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
            chosen = archive.with_suffix(".txt")
            chosen.write_text(
                "".join(f"{line}\n" for line in lines if len(line) < _LONGEST_LINE), "utf-8"
            )
            options = archive.with_suffix(".args")
            argument_file(
                options,
                [
                    "-Xshare:dump",
                    "-Xlog:cds=error",
                    f"-XX:SharedClassListFile={chosen}",
                    f"-XX:SharedArchiveFile={archive}",
                    # Only this collector can archive objects; the server's can read them.
                    "-XX:+UseG1GC",
                    "-Xmx512m",
                    *class_path_option(_class_path(cache, installed)),
                ],
            )
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


def _own_jars(installed: Installation) -> list[Path]:
    browser = browser_jar(installed)
    return [jar for jar in installed.class_path if jar != browser]


def _class_path(cache: Path, installed: Installation) -> list[Path]:
    """Return the class path of the archive, with copies in the place of signed jars."""
    return [
        cache / "classes" / jar.name if jar.name.startswith(_SIGNED) else jar
        for jar in _own_jars(installed)
    ]


def _archive(cache: Path, installed: Installation, java: Java) -> Path:
    """Return the path of the archive for this class path and Java."""
    key = "\n".join([str(java.home), java.version, *map(str, _class_path(cache, installed))])
    return cache / "classes" / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.jsa"


def _class_list(home: Path) -> Path:
    return home / "run" / "classes.txt"


def _copy_unsigned(jar: Path, copy: Path) -> None:
    with (
        ZipFile(jar) as source,
        replacing(copy) as file,
        ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as out,
    ):
        for entry in source.infolist():
            if not _SIGNATURE.fullmatch(entry.filename):
                out.writestr(entry, source.read(entry))
