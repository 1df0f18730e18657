"""Neo4j Browser with our style and guide, served by the embedded server itself.

Neo4j serves the Browser of its class path, where our jar replaces Browser's own: a copy of it, with
`cypher/browser/style.grass` and `guide.html` added, so that all are served from the same address. A
command opens the guide after the login. A style loaded by such a command would be shown as a
listing, so a script in Browser's page stores ours in the browser's local storage before it starts.
"""

import contextlib
import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, is_zipfile

from kgp_neo4j.environment.disk import private_folder, replacing
from kgp_neo4j.graphdb.server.jars import LINES, Installation, load_lock

#: Folders in the jar: Browser's and ours.
_ROOT, _FOLDER = "browser/", "browser/kgp/"
_PAGE, _BODY = "browser/index.html", b"<body>"
_OWN_SCRIPT = b'<script src="kgp/style.js"></script>'


def prepare_browser(cache: Path, installed: Installation) -> Path:
    """Return the jar of Browser with our style and guide.

    The cache has one for each Browser jar and version of our files. Raises ServerError.
    """
    style, guide = _text("style.grass"), _text("guide.html")
    ours = {"style.grass": style, "guide.html": guide, "style.js": _style_script(style)}
    digest = hashlib.sha256("\0".join(ours.values()).encode())
    path = cache / "browser" / f"{installed.lock.id}-{digest.hexdigest()[:16]}.jar"
    if not is_zipfile(path):
        private_folder(path.parent)
        _write_jar(path, installed.browser, ours)
        # A server of another line of Neo4j may run on its own jar.
        others = {load_lock(line).id for line in LINES} - {installed.lock.id}
        for old in path.parent.iterdir():
            if old != path and not old.name.startswith(tuple(others)):
                with contextlib.suppress(OSError):  # Windows: another server has it open
                    old.unlink()
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
    script = _text("style.js").replace("VERSION", json.dumps(version))
    return script.replace("STYLE", json.dumps(text))


def _write_jar(path: Path, jar: Path, ours: dict[str, str]) -> None:
    with (
        ZipFile(jar) as source,
        replacing(path) as file,
        ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as out,
    ):
        out.mkdir(_ROOT)  # Neo4j looks for the folder itself
        for entry in source.infolist():
            if entry.filename.startswith(_ROOT) and entry.filename != _ROOT:
                content = source.read(entry)
                if entry.filename == _PAGE:
                    content = content.replace(_BODY, _BODY + _OWN_SCRIPT)  # before Browser's own
                out.writestr(entry, content)
        for name, text in ours.items():
            out.writestr(f"{_FOLDER}{name}", text)
