"""Neo4j Browser with our style and guide, served by the embedded server itself.

Neo4j serves the Browser of its class path, where a jar of ours stands in place of Browser's own: it
is made from that, with `cypher/browser/style.grass` and `guide.html` added, so that both come from
the address that Browser itself comes from. (Neo4j would take a zip in the home as well, and unpack
its 46 MB at each start.) A command opens the guide after
the login; a style that comes by such a command is shown as a listing of it, so that Browser's page
lays ours where Browser keeps the user's before Browser begins.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from kgp_neo4j.graphdb.server.jars import Installation

__all__ = ["browser_jar", "browser_settings", "prepare_browser"]

#: Files of cypher/browser/, and where they stand in the jar, below `browser/`.
_OURS = ("style.grass", "guide.html")
_ROOT = "browser/"
_PLACE = "browser/kgp/"
_JAR = "neo4j-browser-"
_PAGE, _BODY = "browser/index.html", b"<body>"
_SCRIPT = "style.js"

_SETTINGS = """\
# Neo4j Browser's guide comes from this server.
browser.post_connect_cmd=guide {address}/guide.html
browser.remote_content_hostname_whitelist=127.0.0.1,localhost
"""
#: Lays the style where Browser keeps it: once, and again after `:style reset`, so that what a user
#: changes of it stays.
_LAY = """\
(function (style, version) {
  try {
    var kept = localStorage.getItem("neo4j.grass");
    if (kept === null || kept === "null" || localStorage.getItem("kgp.style") !== version) {
      localStorage.setItem("neo4j.grass", style);
      localStorage.setItem("kgp.style", version);
    }
  } catch (error) {
    // A browser that keeps nothing: the plain style.
  }
})(%s, %s);
"""


def browser_jar(installed: Installation) -> Path:
    """Return the jar of Neo4j Browser as it was published."""
    return next(path for path in installed.class_path if path.name.startswith(_JAR))


def prepare_browser(
    cache: Path, home: Path, installed: Installation, echo: Callable[[str], object]
) -> Path | None:
    """Return the jar of Browser with our style and guide, or None where it can't be made.

    It is made once for each Browser jar and each version of our files, in the cache. Where that
    fails the plain Browser is served, and `echo` is told why: no reason not to start the server.
    """
    with contextlib.suppress(OSError):  # laid by earlier releases, and preferred by Neo4j
        (home / "web" / "neo4j-browser.zip").unlink(missing_ok=True)
    jar = browser_jar(installed)
    try:
        sums = {a.path.name: a.sha256 for a in installed.lock.artifacts}
        ours = {name: _text(name) for name in _OURS}
        ours[_SCRIPT] = _script(ours["style.grass"])
        made = hashlib.sha256("\0".join([sums[jar.name], *ours.values()]).encode())
        kept = cache / "browser" / f"{made.hexdigest()[:16]}.jar"
        if not _whole(kept):
            _make(kept, jar, ours)
    except (OSError, BadZipFile) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        echo(f"Neo4j Browser comes without the guide and the style of kgp-neo4j: {why}.")
        return None
    return kept


def browser_settings(address: str) -> str:
    """Return the lines of neo4j.conf that make Browser show them; `address` is that of HTTP."""
    return _SETTINGS.format(address=f"{address}/{_PLACE.rstrip('/')}")


def _text(name: str) -> str:
    return files("kgp_neo4j.cypher").joinpath("browser", name).read_text(encoding="utf-8")


def _script(grass: str) -> str:
    """Return the script that lays a style, as Browser keeps it: JSON, without the quotes."""
    style = {
        name: dict(re.findall(r'([\w-]+):\s*"?([^";\n]*)"?;', body))
        for name, body in re.findall(r"([\w.]+)\s*\{(.*?)\n\}", grass, re.DOTALL)
    }
    kept = json.dumps(style, separators=(",", ":"))
    version = hashlib.sha256(kept.encode()).hexdigest()[:16]
    return _LAY % (json.dumps(kept), json.dumps(version))


def _with_script(page: bytes) -> bytes:
    """Return Browser's page with our script before its own."""
    if page.count(_BODY) != 1:
        raise BadZipFile("its page is not as expected")
    script = f'<script src="{_PLACE.removeprefix(_ROOT)}{_SCRIPT}"></script>'
    return page.replace(_BODY, _BODY + script.encode())


def _whole(path: Path) -> bool:
    """Say whether our jar can be read to its end, without reading all of it."""
    try:
        with ZipFile(path) as archive:
            names = set(archive.namelist())
            return all(f"{_PLACE}{name}" in names for name in (*_OURS, _SCRIPT))
    except (OSError, BadZipFile):
        return False


def _make(path: Path, jar: Path, ours: dict[str, str]) -> None:
    """Write our jar, all of it or nothing, and remove those of other versions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=".making-")
    fresh = Path(name)
    try:
        with (
            os.fdopen(number, "wb") as file,
            ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as out,
            ZipFile(jar) as source,
        ):
            out.mkdir(_ROOT)  # Neo4j looks for the folder itself
            for entry in source.infolist():
                if entry.filename.startswith(_ROOT) and entry.filename != _ROOT:
                    read = source.read(entry)
                    if entry.filename == _PAGE:
                        read = _with_script(read)
                    out.writestr(entry, read, compresslevel=1)
            for each, text in ours.items():
                out.writestr(f"{_PLACE}{each}", text)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    for old in path.parent.iterdir():
        if old != path:
            with contextlib.suppress(OSError):  # Windows: another server has it open
                old.unlink()
