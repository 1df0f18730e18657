"""Neo4j Browser with our style and guide, served by the embedded server itself.

Neo4j serves the Browser of its class path, where our jar replaces Browser's own: a copy of it, with
`cypher/browser/style.grass` and `guide.html` added, so that all are served from the same address. A
command opens the guide after the login. A style loaded by such a command would be shown as a
listing, so a script in Browser's page stores ours in the browser's local storage before it starts.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, is_zipfile

from kgp_neo4j.environment.disk import replacing
from kgp_neo4j.graphdb.server.jars import Installation
from kgp_neo4j.types.errors import ServerError

__all__ = ["browser_jar", "browser_settings", "prepare_browser"]

#: Folders in the jar: Browser's and ours.
_ROOT, _FOLDER = "browser/", "browser/kgp/"
_PAGE, _BODY = "browser/index.html", b"<body>"

_SETTINGS = """\
# Neo4j Browser's guide comes from this server.
browser.post_connect_cmd=guide {address}/browser/kgp/guide.html
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
    return next(path for path in installed.class_path if path.name.startswith("neo4j-browser-"))


def browser_settings(address: str) -> str:
    """Return the lines of neo4j.conf that open the guide in Browser; `address` is that of HTTP."""
    return _SETTINGS.format(address=address)


def prepare_browser(
    cache: Path, installed: Installation, echo: Callable[[str], object]
) -> Path | None:
    """Return the jar of Browser with our style and guide, or None where it can't be made.

    It is made once for each Browser jar and each version of our files, in the cache. Where that
    fails, `echo` gets the reason and the server starts with the plain Browser.
    """
    style, guide = _text("style.grass"), _text("guide.html")
    ours = {"style.grass": style, "guide.html": guide, "style.js": _style_script(style)}
    digest = hashlib.sha256("\0".join([installed.lock.id, *ours.values()]).encode())
    path = cache / "browser" / f"{digest.hexdigest()[:16]}.jar"
    try:
        if not is_zipfile(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_jar(path, browser_jar(installed), ours)
    except (OSError, ServerError, BadZipFile) as error:
        echo(f"Neo4j Browser comes without the guide and the style of kgp-neo4j: {error}.")
        return None
    return path


def _text(name: str) -> str:
    return files("kgp_neo4j.cypher").joinpath("browser", name).read_text(encoding="utf-8")


def _style_script(grass: str) -> str:
    """Return the script that stores a style in Browser's format: JSON."""
    style = {
        name: dict(re.findall(r'([\w-]+):\s*"?([^";\n]*)"?;', body))
        for name, body in re.findall(r"([\w.]+)\s*\{(.*?)\n\}", grass, re.DOTALL)
    }
    text = json.dumps(style, separators=(",", ":"))
    version = hashlib.sha256(text.encode()).hexdigest()[:16]
    return _STYLE_SCRIPT % (json.dumps(text), json.dumps(version))


def _write_jar(path: Path, jar: Path, ours: dict[str, str]) -> None:
    """Write our jar, and remove those of other versions."""
    with (
        ZipFile(jar) as source,
        replacing(path) as file,
        ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as out,
    ):
        out.mkdir(_ROOT)  # Neo4j looks for the folder itself
        for entry in source.infolist():
            if entry.filename.startswith(_ROOT) and entry.filename != _ROOT:
                out.writestr(entry, _with_script(entry.filename, source.read(entry)))
        for name, text in ours.items():
            out.writestr(f"{_FOLDER}{name}", text)
    for old in path.parent.iterdir():
        if old != path:
            with contextlib.suppress(OSError):  # Windows: another server has it open
                old.unlink()


def _with_script(name: str, content: bytes) -> bytes:
    """Return a file of Browser; its page gets our script before its own."""
    if name != _PAGE:
        return content
    if content.count(_BODY) != 1:
        raise BadZipFile("its page is not as expected")
    return content.replace(_BODY, _BODY + b'<script src="kgp/style.js"></script>')
