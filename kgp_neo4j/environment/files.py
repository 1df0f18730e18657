"""Finds the files named by paths, folders and globs, opens them, and reads JSON from them."""

from __future__ import annotations

import codecs
import glob
import gzip
import io
import json
import os
import re
import tomllib
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO, Any, NamedTuple

from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.types.errors import ConfigurationError, InputError

__all__ = [
    "EXTENSIONS",
    "Found",
    "Value",
    "absolute",
    "bounded_lines",
    "extension",
    "find",
    "opened",
    "read_array",
    "read_lines",
    "read_object",
    "read_records",
    "read_toml",
    "read_whole",
    "shown",
    "size_on_disk",
    "stem",
]

#: Endings of the files that `load` reads, each also with `.gz`.
EXTENSIONS = (
    *(".txt", ".md", ".html", ".htm"),
    *(".pdf", ".csv", ".tsv", ".docx", ".xlsx", ".xls", ".pptx"),
    *(".jsonl", ".json"),
)

#: Bytes of a line or a JSON value, and of a file in UTF-16 or of one JSON object, which is read
#: whole. A file of 3 MB can unpack to 3 GB.
_MOST_VALUE, _MOST_FILE = 16 << 20, 64 << 20


@dataclass(slots=True)
class Found:
    """The files to load, in order, the files of other kinds, and the paths that do not exist."""

    files: list[Path] = field(default_factory=list)
    ignored: dict[Path, None] = field(default_factory=dict)
    errors: list[InputError] = field(default_factory=list)


def find(paths: Iterable[str | Path]) -> Found:
    """Return the files that `paths` name, each once, in a reproducible order.

    Folders are searched recursively, without hidden files and folders. Globs (`*`, `?`, `[...]`,
    `**`) are expanded unless a file of exactly that name exists. Files of an unknown kind are
    ignored in folders and globs, and an error where they are named.
    """
    found = Found()
    seen: set[str] = set()
    for given in paths:
        try:
            _add(found, seen, given)
        except InputError as error:
            found.errors.append(error)
        except (
            OSError,
            RuntimeError,
            ValueError,
        ) as error:  # too long, unknown user, no permission
            reason = f"cannot be looked up ({error})"
            found.errors.append(InputError(reason, where=shown(Path(given))))
    return found


def _add(found: Found, seen: set[str], given: str | Path) -> None:
    """Add the files of one path; `seen` has the real paths of those added already."""
    path = Path(given).expanduser()
    if path.is_dir():
        members = _members(path)
        if not any(extension(member) for member in members):
            reason = "the folder has no file that can be loaded"
            raise InputError(reason, where=shown(path), hint=_known_endings())
    elif path.exists():
        members = [path]
        if not extension(path):
            raise InputError("an unknown kind of file", where=shown(path), hint=_known_endings())
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
            reason = "the file's name is not valid Unicode"
            found.errors.append(InputError(reason, where=shown(member)))
        else:
            found.files.append(absolute(member))


def absolute(path: Path) -> Path:
    """Return the absolute path without `..`, links not resolved: a document's source."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - Path.resolve would follow links


def size_on_disk(path: Path) -> int:
    """Return the size of a file, 0 where that fails; reading it will raise the error."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def extension(path: Path) -> str:
    """Return a file's ending without `.gz`; empty for a kind that is not loaded."""
    name = path.name.lower().removesuffix(".gz")
    kind = os.path.splitext(name)[1]  # noqa: PTH122 - a name, not a path
    return kind if kind in EXTENSIONS else ""


def stem(path: Path) -> str:
    """Return a file's name as a title: without its endings, underscores as spaces."""
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return Path(name).stem.replace("_", " ").strip() or path.name


def shown(path: Path) -> str:
    """Return a path that can be printed, with escapes for bytes that are not UTF-8."""
    return str(path).encode(errors="backslashreplace").decode()


@contextmanager
def opened(path: Path, progress: Progress) -> Iterator[IO[bytes]]:
    """Open a file to read its bytes, uncompressed; `progress` counts the bytes on disk.

    Raises InputError for a file that is unreadable or damaged, also while it is read.
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


def read_whole(file: IO[bytes], name: str, most: int = _MOST_FILE) -> bytes:
    """Return what a file holds; raises InputError where that is more than `most` bytes."""
    data = file.read(most + 1)
    if len(data) > most:
        raise InputError(
            f"more than {most >> 20} MiB, unpacked, in one file", where=name, hint="Split it."
        )
    return data


def bounded_lines(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the lines of a file; raises InputError for one of more than 16 MiB."""
    number = 1
    while line := file.readline(_MOST_VALUE + 1):
        if len(line) > _MOST_VALUE:
            raise _too_long(f"{name}:{number}")
        yield line
        number += 1


def _too_long(where: str) -> InputError:
    what = f"a line or a value of more than {_MOST_VALUE >> 20} MiB"
    return InputError(what, where=where, hint="Split it.")


class _Counted(io.RawIOBase):
    """A file that updates the progress bar as it is read."""

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
    paths: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(place, name) for name in names if not name.startswith(".")]
    return sorted(paths, key=lambda path: path.as_posix())


def _refuse(error: OSError) -> None:
    # os.walk ignores errors by default: an unreadable folder would look empty.
    raise error


def _matches(path: Path) -> list[Path]:
    """Return the files that match a glob; of a folder that matches, all its files."""
    paths: list[Path] = []
    for name in sorted(glob.glob(str(path), recursive=True)):  # noqa: PTH207 - absolute globs
        match = Path(name)
        paths += _members(match) if match.is_dir() else [match]
    return paths


def _known_endings() -> str:
    return f"Known are {', '.join(EXTENSIONS)}, each also with .gz."


# --- JSON ---

_CHUNK = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*+")
#: A value cut off by the end of a chunk fails within this many characters of that end.
_MARGIN = 32


class Value(NamedTuple):
    """A value and where it begins (`file:line`); an InputError in the place of a malformed one."""

    value: Any
    where: str


def read_lines(file: IO[bytes], name: str) -> Iterator[Value]:
    """Yield the value of each line that is not blank; an InputError for a malformed line."""
    for number, line in enumerate(_lines(file, name), 1):
        where = f"{name}:{number}"
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            reason = f"byte {error.start} of the line is not utf-8 text"
            yield Value(InputError(reason, where=where, hint="Save the file as UTF-8."), where)
            continue
        if text.strip():
            yield Value(_parsed(text, where), where)


def read_object(file: IO[bytes], name: str) -> Iterator[Value]:
    """Yield the one object of a file, over several lines; an InputError where it is malformed."""
    text = "".join(_text(io.BytesIO(read_whole(file, name)), name))
    try:
        yield Value(json.loads(text), f"{name}:1")
    except json.JSONDecodeError as error:
        yield _broken(name, error.lineno, error.msg)
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond Python's limits
        yield _broken(name, 1, str(error))


def read_array(file: IO[bytes], name: str) -> Iterator[Value]:
    """Yield the members of the one array of a file, with one chunk in memory at a time.

    A malformed member ends it with an InputError: the members after it cannot be separated.
    """
    decoder = json.JSONDecoder()
    chunks = _text(file, name)
    buffer, place, line, ended = next(chunks, ""), 0, 1, False
    expects_value = True
    place = _SPACE.match(buffer).end() + 1  # type: ignore[union-attr]
    line += buffer.count("\n", 0, place)
    while True:
        space = _SPACE.match(buffer, place)
        end = space.end() if space else place
        problem = None
        if end < len(buffer):
            line += buffer.count("\n", place, end)
            place = end
            mark = buffer[place]
            if mark == "]":
                return
            if not expects_value:
                if mark != ",":
                    yield _broken(name, line, f"expected , or ] but found {mark!r}")
                    return
                place, expects_value = place + 1, True
                continue
            try:
                value, end = decoder.raw_decode(buffer, place)
            except json.JSONDecodeError as error:
                problem = error
            except (ValueError, RecursionError) as error:
                yield _broken(name, line, str(error))
                return
            else:
                # A number may go on in the next chunk; no other value can.
                if ended or end < len(buffer):
                    yield Value(value, f"{name}:{line}")
                    line += buffer.count("\n", place, end)
                    place, expects_value = end, False
                    continue
        if ended:
            at = line + (problem.lineno - buffer.count("\n", 0, place) - 1 if problem else 0)
            yield _broken(name, at, problem.msg if problem else "the array is not closed")
            return
        if problem and not _is_cut_off(problem, len(buffer)):
            at = line + problem.lineno - buffer.count("\n", 0, place) - 1
            yield _broken(name, at, problem.msg)
            return
        if len(buffer) - place > _MOST_VALUE:
            raise _too_long(f"{name}:{line}")
        more = next(chunks, None)
        ended = more is None
        buffer, place = buffer[place:] + (more or ""), 0


def _is_cut_off(error: json.JSONDecodeError, length: int) -> bool:
    return error.msg.startswith("Unterminated string") or error.pos >= length - _MARGIN


def _broken(name: str, line: int, reason: str) -> Value:
    where = f"{name}:{line}"
    return Value(InputError(f"not JSON ({reason})", where=where), where)


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return InputError(f"not JSON ({error.msg}, column {error.colno})", where=where)
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond Python's limits
        return InputError(f"not JSON that can be read ({error})", where=where)


def read_records(file: IO[bytes], name: str) -> Iterator[Value]:
    """Yield the members of a file's one array, else the value of each of its lines."""
    start = file.peek(64).lstrip()  # type: ignore[attr-defined]
    return (read_array if start.startswith(b"[") else read_lines)(file, name)


def _lines(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Return the lines of a file as UTF-8; a file with UTF-16's byte order mark is re-encoded."""
    start = file.peek(2)[:2]  # type: ignore[attr-defined]
    if start not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return bounded_lines(file, name)
    try:
        return iter(io.BytesIO(read_whole(file, name).decode("utf-16").encode()))
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not utf-16 text", where=name, hint="Save the file as UTF-8."
        ) from error


def _text(file: IO[bytes], name: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    line, read = 1, 0
    while data := file.read(_CHUNK):
        pending = len(decoder.getstate()[0])
        try:
            yield (text := decoder.decode(data))
        except UnicodeDecodeError as error:
            at = error.start - pending
            line += data.count(b"\n", 0, max(at, 0))
            raise InputError(
                f"byte {read + at} is not utf-8 text",
                where=f"{name}:{line}",
                hint="Save the file as UTF-8.",
            ) from error
        read += len(data)
        line += text.count("\n")


#: Bytes of a TOML file that somebody wrote, and characters of its lines: a key of very many parts
#: takes tomllib time and memory in their square.
_LARGEST_TOML, _LONGEST_LINE = 1 << 20, 10_000


def read_toml(path: Path | Traversable, hint: str) -> tuple[str, dict[str, Any]]:
    """Return the text and the values of a TOML file that somebody wrote.

    Raises OSError where it cannot be read, and ConfigurationError with `hint` where it is no TOML,
    over 1 MB, or has a line over 10,000 characters.
    """
    with path.open("rb") as file:
        data: bytes = file.read(_LARGEST_TOML + 1)
    line = ""
    try:
        text = data.decode("utf-8-sig")
        long = [at for at, each in enumerate(text.split("\n"), 1) if len(each) > _LONGEST_LINE]
        if len(data) > _LARGEST_TOML:
            reason = "it is too large"
        elif long:
            reason, line = f"a line of over {_LONGEST_LINE:,} characters", f":{long[0]}"
        else:
            return text, tomllib.loads(text)
    except UnicodeDecodeError:
        reason = "its text is not UTF-8"
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as error:
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", str(error))
        reason = str(error)[: found.start()] if found else str(error)
        line = f":{found[1]}" if found and found[1] else ""
    raise ConfigurationError(f"this is no TOML ({reason})", where=f"{path}{line}", hint=hint)
