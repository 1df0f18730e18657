"""The kinds of files that `load` reads, and the extras that bring optional packages."""

import gzip
import os
import re
import tomllib
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from kgp_neo4j.plugins import plugged
from kgp_neo4j.types.errors import ConfigurationError, KgpError

#: Endings of pictures, whose text is recognised with the extra `ocr`.
PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp")
#: What to do about files of other kinds, by the ending.
_ADVICE = {
    ending: advice
    for advice, endings in tomllib.loads(
        Path(__file__).with_name("advice.toml").read_text(encoding="utf-8")
    ).items()
    for ending in endings.split()
}
#: Control characters that no text has.
_BINARY = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")


def endings() -> list[str]:
    """Return the endings of the files that `load` reads, each also with `.gz`."""
    return [f".{name}" for name in plugged("loader")]


def extension(path: Path) -> str:
    """Return an ending without `.gz`, `.txt` for bare text; empty if not loaded (no `ocr`, too)."""
    kind = _ending(path)
    if not kind:
        return ".txt" if _is_text(path) else ""
    if path.name.startswith("~$") or (kind in PICTURES and not is_installed("rapidocr")):
        return ""
    return kind if kind[1:] in plugged("loader") else ""


def unread_reason(path: Path, also: Collection[str] = ()) -> str:
    """Return in a few words why a file is not loaded, and what to do; empty where it is.

    `also` are endings that are read, too.
    """
    if not os.path.exists(path):  # noqa: PTH110 - Path's raises where it may not look
        return "a link to nothing" if path.is_symlink() else "it is not there"
    if not path.is_file():
        return "a pipe, a socket or a device, not a file that can be read"
    if extension(path) or _ending(path) in also:
        return ""
    if reason := advice(path):
        return reason
    if not path.stat().st_size:
        return "it is empty"
    kind = _ending(path)
    if _is_text(path):
        return f"text of an unknown kind ({kind}): rename it to .txt to load it"
    return f"not a kind of document that is known ({kind})" if kind else "it is not text"


def advice(path: Path) -> str:
    """Return what to do about a file by its name alone, an empty text where that is not known."""
    kind = _ending(path)
    if kind in PICTURES:
        return 'a picture: pip install "kgp-neo4j[ocr]" recognises its text'
    if path.name.startswith("~$"):
        return "a program's temporary file"
    return _ADVICE.get(kind, "")


def _ending(path: Path) -> str:
    """Return the ending of a file's name in lower case; empty for none, as in "Rules 2.1"."""
    name = path.name.lower()
    kind = os.path.splitext(name.removesuffix(".gz"))[1]  # noqa: PTH122 - a name, not a path
    if not kind and name.endswith(".gz"):
        return "" if _is_text(path) else ".gz"
    is_number = kind[1:].isdecimal() or " " in kind
    return "" if is_number else kind


def _is_text(path: Path) -> bool:
    """Return whether a file begins with a byte order mark, or has no control characters there."""
    if not os.path.isfile(path):  # noqa: PTH113 - a pipe would be waited for, Path's may raise
        return False
    try:
        with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as file:
            head = file.read(4096)
    except (OSError, EOFError, zlib.error):
        return False
    return bool(head) and (head[:2] in (b"\xff\xfe", b"\xfe\xff") or not _BINARY.search(head))


def installed_extras() -> list[str]:
    """Return the extras all of whose packages are installed, but for those of development."""
    whole = dict[str, bool]()
    for requirement in metadata.requires("kgp-neo4j") or ():
        told = re.match(r"([\w.-]+).*extra == ['\"]([\w-]+)", requirement)
        if told and told[2] not in ("test", "docs", "dev"):
            whole.setdefault(told[2], True)
            try:
                metadata.version(told[1])
            except metadata.PackageNotFoundError:
                whole[told[2]] = False
    return [name for name, is_whole in whole.items() if is_whole]


def is_installed(module: str) -> bool:
    """Return whether a module can be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # import is blocked, or the package is incomplete
        return False


@contextmanager
def needs(
    extra: str, what: str, error: type[KgpError] = ConfigurationError, *, where: str | None = None
) -> Iterator[None]:
    """Turn an ImportError in the block into an `error` that names the extra to install."""
    try:
        yield
    except ImportError as failure:
        package = (failure.name or str(failure)).partition(".")[0]
        hint = f'Install it: pip install "kgp-neo4j[{extra}]".'
        raise error(f"{what} needs the package {package}", where=where, hint=hint) from failure
