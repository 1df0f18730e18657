"""Neo4j Browser with our style and guide, served by the embedded server itself.

Neo4j serves the Browser of its class path, where our jar replaces Browser's own: a copy of it, with
`cypher/browser/style.grass` and `guide.html` added, so that all are served from the same address.
(Neo4j would also use a zip in the home, but unpack its 46 MB at each start.) A command opens the
guide after the login. A style loaded by such a command would be shown as a listing, so a script in
Browser's page stores ours in the browser's local storage before Browser starts.
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

#: Files of cypher/browser/, and their folder in the jar.
_OUR_FILES = ("style.grass", "guide.html")
_ROOT = "browser/"
_FOLDER = "browser/kgp/"
_JAR = "neo4j-browser-"
_PAGE, _BODY = "browser/index.html", b"<body>"
_SCRIPT = "style.js"

_SETTINGS = """\
# Neo4j Browser's guide comes from this server.
browser.post_connect_cmd=guide {address}/guide.html
browser.remote_content_hostname_whitelist=127.0.0.1,localhost
"""
#: Stores the style where Browser keeps it: once for each version, and after `:style reset`, so that
#: a user's changes stay.
_STYLE_SCRIPT = """\
(function (style, version) {
  try {
    var kept = localStorage.getItem("neo4j.grass");
    if (kept === null || kept === "null" || localStorage.getItem("kgp.style") !== version) {
      localStorage.setItem("neo4j.grass", style);
      localStorage.setItem("kgp.style", version);
    }
  } catch (error) {
    // Without local storage Browser has its default style.
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
    fails, `echo` gets the reason and the server starts with the plain Browser.
    """
    with contextlib.suppress(OSError):  # written by earlier releases; Neo4j would prefer it
        (home / "web" / "neo4j-browser.zip").unlink(missing_ok=True)
    jar = browser_jar(installed)
    try:
        sums = {a.path.name: a.sha256 for a in installed.lock.artifacts}
        ours = {name: _text(name) for name in _OUR_FILES}
        ours[_SCRIPT] = _script(ours["style.grass"])
        digest = hashlib.sha256("\0".join([sums[jar.name], *ours.values()]).encode())
        path = cache / "browser" / f"{digest.hexdigest()[:16]}.jar"
        if not _is_complete(path):
            _write_jar(path, jar, ours)
    except (OSError, BadZipFile) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        echo(f"Neo4j Browser comes without the guide and the style of kgp-neo4j: {reason}.")
        return None
    return path


def browser_settings(address: str) -> str:
    """Return the lines of neo4j.conf that open the guide in Browser; `address` is that of HTTP."""
    return _SETTINGS.format(address=f"{address}/{_FOLDER.rstrip('/')}")


def _text(name: str) -> str:
    return files("kgp_neo4j.cypher").joinpath("browser", name).read_text(encoding="utf-8")


def _script(grass: str) -> str:
    """Return the script that stores a style in Browser's format: JSON."""
    style = {
        name: dict(re.findall(r'([\w-]+):\s*"?([^";\n]*)"?;', body))
        for name, body in re.findall(r"([\w.]+)\s*\{(.*?)\n\}", grass, re.DOTALL)
    }
    text = json.dumps(style, separators=(",", ":"))
    version = hashlib.sha256(text.encode()).hexdigest()[:16]
    return _STYLE_SCRIPT % (json.dumps(text), json.dumps(version))


def _with_script(page: bytes) -> bytes:
    """Return Browser's page with our script before its own."""
    if page.count(_BODY) != 1:
        raise BadZipFile("its page is not as expected")
    script = f'<script src="{_FOLDER.removeprefix(_ROOT)}{_SCRIPT}"></script>'
    return page.replace(_BODY, _BODY + script.encode())


def _is_complete(path: Path) -> bool:
    """Return whether our jar has all our files, by its directory at the end of the file."""
    try:
        with ZipFile(path) as archive:
            names = set(archive.namelist())
            return all(f"{_FOLDER}{name}" in names for name in (*_OUR_FILES, _SCRIPT))
    except (OSError, BadZipFile):
        return False


def _write_jar(path: Path, jar: Path, ours: dict[str, str]) -> None:
    """Write our jar atomically, and remove those of other versions."""
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
                out.writestr(f"{_FOLDER}{each}", text)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    for old in path.parent.iterdir():
        if old != path:
            with contextlib.suppress(OSError):  # Windows: another server has it open
                old.unlink()
