"""Finds the files that paths, folders and globs stand for, and opens them."""

from __future__ import annotations

import glob
import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from kgp_neo4j.errors import InputError
from kgp_neo4j.load.ids import is_storable
from kgp_neo4j.progress import Progress

__all__ = [
    "EXTENSIONS",
    "Found",
    "absolute",
    "extension",
    "find",
    "opened",
    "shown",
    "size_on_disk",
    "stem",
]

#: What `load` reads; each also with `.gz` after it.
EXTENSIONS = (
    *(".txt", ".md", ".html", ".htm"),
    *(".pdf", ".csv", ".tsv", ".docx", ".xlsx", ".xls", ".pptx"),
    *(".jsonl", ".json"),
)


@dataclass(slots=True)
class Found:
    """The files to load, in order; what a folder held besides; and paths that lead nowhere."""

    files: list[Path] = field(default_factory=list)
    ignored: dict[Path, None] = field(default_factory=dict)
    errors: list[InputError] = field(default_factory=list)


def find(paths: Iterable[str | Path]) -> Found:
    """Return the files that `paths` stand for, each once, in an order that never changes.

    Folders are searched to the bottom, hidden files and folders left out. Globs (`*`, `?`, `[...]`,
    `**`) are expanded unless a file of that very name exists. Files of an unknown kind are ignored
    in folders and globs, and an error where they are named.
    """
    found = Found()
    seen: set[str] = set()
    for given in paths:
        try:
            _add(found, seen, given)
        except InputError as error:
            found.errors.append(error)
        except (OSError, RuntimeError, ValueError) as error:  # too long, no such user, no right
            reason = f"cannot be looked up ({error})"
            found.errors.append(InputError(reason, where=shown(Path(given))))
    return found


def _add(found: Found, seen: set[str], given: str | Path) -> None:
    """Add what one path stands for; `seen` holds the files met already, links followed."""
    path = Path(given).expanduser()
    if path.is_dir():
        members = _members(path)
        if not any(extension(member) for member in members):
            what = "the folder holds no file that can be loaded"
            raise InputError(what, where=shown(path), hint=_known())
    elif path.exists():
        members = [path]
        if not extension(path):
            raise InputError("an unknown kind of file", where=shown(path), hint=_known())
    elif glob.has_magic(str(given)):
        members = _matches(path)
        if not members:
            raise InputError("no file matches", where=shown(path))
    else:
        raise InputError("there is no such file or folder", where=shown(path))
    for member in members:
        if not extension(member) or not member.is_file():
            found.ignored[member] = None
            continue
        real = os.path.realpath(member)
        if real in seen:
            continue
        seen.add(real)
        if not is_storable(str(member)):
            what = "the file's name is not valid Unicode"
            found.errors.append(InputError(what, where=shown(member)))
        else:
            found.files.append(absolute(member))


def absolute(path: Path) -> Path:
    """Return a path from the root, `..` taken out, links kept: a document's source."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - Path.resolve would follow links


def size_on_disk(path: Path) -> int:
    """Return the bytes of a file, 0 where it cannot be asked; reading it will say why."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def extension(path: Path) -> str:
    """Return the kind of a file, `.gz` taken off; empty for a kind that is not loaded."""
    name = path.name.lower().removesuffix(".gz")
    kind = os.path.splitext(name)[1]  # noqa: PTH122 - a name, not a path
    return kind if kind in EXTENSIONS else ""


def stem(path: Path) -> str:
    """Return a file's name as a title: without its endings, underscores as spaces."""
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return Path(name).stem.replace("_", " ").strip() or path.name


def shown(path: Path) -> str:
    """Return a path as it can be printed, whatever bytes its name is made of."""
    return str(path).encode(errors="backslashreplace").decode()


@contextmanager
def opened(path: Path, progress: Progress) -> Iterator[IO[bytes]]:
    """Open a file for reading its bytes, uncompressed; progress counts bytes as they lie on disk.

    Raises InputError for a file that cannot be read or is damaged, while it is being read too.
    """
    try:
        with io.BufferedReader(_Counted(path, progress), 1 << 18) as raw:
            if path.name.lower().endswith(".gz"):
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield io.BufferedReader(unpacked, 1 << 18)
            else:
                yield raw
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"the compressed file is damaged ({error})", where=shown(path), hint="Fetch it again."
        ) from error
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror or error})", where=shown(path)
        ) from error


class _Counted(io.RawIOBase):
    """A file that tells the progress bar how far it has been read."""

    def __init__(self, path: Path, progress: Progress) -> None:
        self._file = path.open("rb", buffering=0)
        self._progress = progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._file.readinto(buffer) or 0
        self._progress.update(count)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _members(folder: Path) -> list[Path]:
    """Return all files under a folder that are not hidden, sorted by their path."""
    made: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        made += [Path(place, name) for name in names if not name.startswith(".")]
    return sorted(made, key=lambda path: path.as_posix())


def _refuse(error: OSError) -> None:
    # A folder that cannot be read must not pass for an empty one.
    raise error


def _matches(path: Path) -> list[Path]:
    """Return what a glob stands for; a folder that matches stands for its files."""
    made: list[Path] = []
    for name in sorted(glob.glob(str(path), recursive=True)):  # noqa: PTH207 - absolute globs
        match = Path(name)
        made += _members(match) if match.is_dir() else [match]
    return made


def _known() -> str:
    return f"Known are {', '.join(EXTENSIONS)}, each also with .gz."
