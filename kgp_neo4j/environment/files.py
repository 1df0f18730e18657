"""Finds the files named by paths, folders and globs, opens them, and reads JSON from them."""

import codecs
import glob
import gzip
import io
import json
import os
import re
import tomllib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from itertools import chain, takewhile
from pathlib import Path
from typing import IO, Any, NamedTuple

from kgp_neo4j.environment.job import Progress, bar
from kgp_neo4j.environment.kinds import endings, extension, unread_reason
from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.types.errors import ConfigurationError, InputError

#: Bytes of a line or JSON value, and of a file that is read whole: 3 MB can unpack to 3 GB.
_MOST_VALUE, _MOST_FILE = 16 << 20, 64 << 20
#: Bytes of a file whose reader has bounds of its own for what is packed in it.
MOST_PACKED = 512 << 20
#: Why a link is passed over.
_OUTWARD = "a link out of the folder (--follow-links follows it)"


@dataclass(slots=True)
class InputFiles:
    """The files to load, in order; what is not read, with its reason; and what should have been.

    `folders` has the files of each folder that is named and can be read, both by their real paths.
    """

    files: list[Path] = field(default_factory=list)
    folders: dict[str, set[str]] = field(default_factory=dict)
    ignored: dict[Path, str] = field(default_factory=dict)
    errors: list[InputError] = field(default_factory=list)


def find(
    paths: Iterable[str | Path], kinds: Sequence[str] = (), *, follow_links: bool = False
) -> InputFiles:
    """Return the files that `paths` name, each once, in a reproducible order.

    Folders are searched recursively, links to folders followed once, what is hidden named but not
    searched. A link that leads out of the folder, or the one where a glob begins, is followed with
    `follow_links` alone. Globs (`*`, `?`, `[...]`, `**`, which passes no links) are expanded unless
    a file of exactly that name exists. Files of a kind that is not read are ignored in folders and
    globs, and an error where they are named. `kinds` are endings that are read, too, by one who
    reads no others.
    """
    inputs = InputFiles()
    seen: set[str] = set()
    for path in paths:
        try:
            named = expanded(path)
            around = None if follow_links else os.path.realpath(_begin(named))
            for member in _named(named, inputs, kinds, around):
                reason = unread_reason(member, kinds)
                if not is_storable(str(member)):
                    reason = reason or "the file's name is not valid Unicode"
                if reason and not extension(member):
                    inputs.ignored[absolute(member)] = reason
                elif reason:  # it should have been read
                    inputs.errors.append(InputError(reason, where=shown(member)))
                else:
                    real = os.path.realpath(member)
                    inputs.folders.get(os.path.realpath(named), set()).add(Path(real).as_posix())
                    if real not in seen:
                        seen.add(real)
                        inputs.files.append(absolute(member))
        except InputError as error:
            inputs.errors.append(error)
        except (OSError, ValueError) as error:  # too long, no permission
            reason = f"cannot be looked up ({error})"
            inputs.errors.append(InputError(reason, where=shown(Path(path))))
    return inputs


def _begin(path: Path) -> Path:
    """Return the folder from which a glob is searched, another path as it is."""
    if path.exists():
        return path
    return Path(*takewhile(lambda part: not glob.has_magic(part), path.parts))


def _leads_out(path: Path, around: str | None) -> bool:
    return around is not None and not Path(os.path.realpath(path)).is_relative_to(around)


def _named(path: Path, inputs: InputFiles, kinds: Sequence[str], around: str | None) -> list[Path]:
    """Return the files that one path names; raises InputError where none can be loaded.

    `around` is the real path of the folder out of which no link is followed, if any.
    """
    if path.is_dir():
        failed, before = len(inputs.errors), len(inputs.ignored)
        members = _members(path, inputs, around)
        if len(inputs.errors) == failed:
            inputs.folders.setdefault(os.path.realpath(path), set())
        if all(unread_reason(each, kinds) for each in members) and len(inputs.errors) == failed:
            inputs.ignored |= {absolute(member): unread_reason(member) for member in members}
            skipped = list(inputs.ignored.items())[before : before + 3]
            why = "; ".join(f"{shown(Path(each.name))}: {reason}" for each, reason in skipped)
            what = "the folder has no file that can be loaded"
            raise InputError(what, where=shown(path), hint=f"{why or 'It has no file at all'}.")
        return members
    if path.exists():
        if reason := unread_reason(path, kinds):
            hint = f"Read are {', '.join(kinds or endings())}."
            raise InputError(reason, where=shown(path), hint=hint)
        return [path]
    if not glob.has_magic(str(path)):
        raise InputError("there is no such file or folder", where=shown(path))
    begin = _begin(path)
    pattern = path.relative_to(begin)
    wants_hidden = any(part.startswith(".") for part in pattern.parts)
    members = list[Path]()
    # The module glob follows links of folders round and round.
    for match in sorted(begin.glob(str(pattern))):
        is_hidden = any(part.startswith(".") for part in match.relative_to(begin).parts)
        if is_hidden and not wants_hidden:
            continue
        if _leads_out(match, around):
            inputs.ignored[absolute(match)] = _OUTWARD
        else:
            members += _members(match, inputs, around)
    if not members:
        raise InputError("no file matches", where=shown(path))
    return members


def _members(path: Path, inputs: InputFiles, around: str | None) -> list[Path]:
    """Return a file, or all files under a folder, sorted by their path; note what is passed over.

    A link to a folder is followed last, unless it leads to one searched before or back up.
    """
    if not path.is_dir():
        return [path]
    root = os.path.realpath(path)
    members: list[Path] = []
    folders, links = [path], list[Path]()
    searched: set[str] = set()
    while folders or links:
        place = folders.pop() if folders else links.pop(0)
        real = os.path.realpath(place)
        if real in searched or (real != root and Path(root).is_relative_to(real)):
            inputs.ignored[absolute(place)] = "a link to a folder that is searched already"
            continue
        searched.add(real)
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError as error:
            reason = f"the folder cannot be read ({error.strerror or error})"
            inputs.errors.append(InputError(reason, where=shown(place)))
            continue
        for entry in entries:
            member = place / entry.name
            if entry.name.startswith("."):
                inputs.ignored[absolute(member)] = "hidden"
            elif entry.is_symlink() and _leads_out(member, around):
                inputs.ignored[absolute(member)] = _OUTWARD
            elif os.path.isdir(member):  # noqa: PTH112 - Path's raises for no permission
                (links if entry.is_symlink() else folders).append(member)
            else:
                members.append(member)
    return sorted(members, key=Path.as_posix)


def expanded(path: str | Path) -> Path:
    """Return a path with its `~` resolved; raises InputError where that is no home folder."""
    try:
        return Path(path).expanduser()
    except (RuntimeError, ValueError) as error:
        raise InputError("its ~ names no home folder", where=shown(Path(path))) from error


def absolute(path: Path) -> Path:
    """Return the absolute path without `..`, links not resolved."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - Path.resolve would follow links


def size_on_disk(path: Path) -> int:
    """Return the size of a file, 0 where that fails; reading it will raise the error."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


def stem(path: Path) -> str:
    """Return a file's name as a title: without its endings, underscores as spaces."""
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return Path(name).stem.replace("_", " ").strip() or path.name


def shown(path: Path) -> str:
    """Return a path that can be printed, with escapes for bytes that are not UTF-8."""
    return str(path).encode(errors="backslashreplace").decode()


@contextmanager
def opened(path: Path, progress: Progress) -> Iterator[IO[bytes]]:
    """Open a file's bytes, uncompressed; `progress` counts those on disk.

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
        what = f"the compressed file is damaged ({error})"
        raise InputError(what, where=shown(path), hint="Fetch it again.") from error
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise InputError(reason, where=shown(path)) from error


def read_whole(file: IO[bytes], name: str, most: int = _MOST_FILE) -> bytes:
    """Return what a file holds; raises InputError where that is more than `most` bytes."""
    data = file.read(most + 1)
    if len(data) > most:
        what = f"more than {most >> 20} MiB, unpacked, in one file"
        raise InputError(what, where=name, hint="Split it.")
    return data


def _too_long(where: str) -> InputError:
    what = f"a line or a value of more than {_MOST_VALUE >> 20} MiB"
    return InputError(what, where=where, hint="Split it.")


def not_text(encoding: str, where: str) -> InputError:
    """Return the error for bytes that are not text in an encoding."""
    return InputError(f"not {encoding} text", where=where, hint="Save the file as UTF-8.")


class Value(NamedTuple):
    """A line or a value, and its place (`file:line`); an InputError for what cannot be read."""

    value: Any
    where: str


def text_lines(file: IO[bytes], path: Path, encoding: str = "") -> Iterator[Value]:
    """Yield the lines of a file, an InputError in the place of one that is no text.

    Unless an `encoding` is named it is UTF-8, or UTF-16 by its mark, which is read whole. Raises
    InputError for a line that is too long.
    """
    name = shown(path)
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    encoding = encoding or ("utf-16" if file.peek(2)[:2] in marks else "utf-8")  # type: ignore[attr-defined]
    if encoding.lower().startswith(("utf-16", "utf-32")):
        try:
            file = io.BytesIO(read_whole(file, name).decode(encoding).encode())
        except UnicodeDecodeError as error:
            raise not_text(encoding, name) from error
        encoding = "utf-8"
    for number, line in enumerate(iter(lambda: file.readline(_MOST_VALUE + 1), b""), 1):
        where = f"{name}:{number}"
        if len(line) > _MOST_VALUE:
            raise _too_long(where)
        try:
            text = line.decode(encoding)
        except UnicodeDecodeError:
            yield Value(not_text(encoding, where), where)
        else:
            yield Value(text.removeprefix("\ufeff") if number == 1 else text, where)


class _Counted(io.FileIO):
    def __init__(self, path: Path, progress: Progress) -> None:
        super().__init__(path)
        self._progress = progress

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0
        self._progress.update(count)
        return count


# --- JSON ---

_SEPARATOR = re.compile(r"[ \t\r\n]*+,?+[ \t\r\n]*+")


def json_values(file: IO[bytes], path: Path) -> Iterator[Value]:
    """Yield the values of a `.json` file, or of the lines of one of another kind."""
    if extension(path) == ".json":
        yield from _records(file, shown(path))
        return
    for text, where in text_lines(file, path):
        try:
            if isinstance(text, InputError):
                yield Value(text, where)
            elif text.strip():
                yield Value(json.loads(text), where)
        except json.JSONDecodeError as error:
            yield _malformed(where, f"{error.msg}, column {error.colno}")
        except (ValueError, RecursionError) as error:  # a number or a nesting beyond the limits
            yield _malformed(where, str(error))


def _records(file: IO[bytes], name: str) -> Iterator[Value]:
    """Yield the members of a file's one array, or the values that follow one another in it.

    One chunk is in memory at a time. A malformed value ends it with an InputError: the values after
    it cannot be separated. (ijson takes gigabytes for 100 kB of brackets, and names no lines.)
    """
    decode = json.JSONDecoder().raw_decode
    chunks = chain(_decoded(file, name), " ")  # what follows a value shows that it is complete
    buffer, place, line = next(chunks), 0, 1
    if is_array := buffer.lstrip().startswith("["):
        place = buffer.index("[") + 1
        line += buffer.count("\n", 0, place)
    while True:
        begin = _SEPARATOR.match(buffer, place).end()  # type: ignore[union-attr]
        line += buffer.count("\n", place, begin)
        place, end, problem = begin, len(buffer), None
        if is_array and buffer.startswith("]", place):
            return
        try:
            if place < len(buffer):
                value, end = decode(buffer, place)
        except json.JSONDecodeError as error:
            problem = error
        except (ValueError, RecursionError) as error:
            yield _malformed(f"{name}:{line}", str(error))
            return
        if end < len(buffer):
            yield Value(value, f"{name}:{line}")
            line += buffer.count("\n", place, end)
            place = end
            continue
        # A value cut off by the end of a chunk fails near that end, or is an unended string.
        is_cut_off = problem is None or (
            problem.pos >= len(buffer) - 32 or problem.msg.startswith("Unterminated string")
        )
        more = next(chunks, "") if is_cut_off else ""
        if not more:
            if problem:
                line += buffer.count("\n", place, problem.pos)
                yield _malformed(f"{name}:{line}", problem.msg)
            elif is_array:
                yield _malformed(f"{name}:{line}", "the array is not closed")
            return
        if len(buffer) - place > _MOST_VALUE:
            raise _too_long(f"{name}:{line}")
        buffer, place = buffer[place:] + more, 0


def read_values(path: Path, title: str) -> Iterator[Value]:
    """Yield a file's JSON values, the bar under `title`; raises InputError with file and line."""
    with bar(title, None) as progress, opened(path, progress) as file:
        for value in json_values(file, path):
            if isinstance(value.value, InputError):
                raise value.value
            yield value


def read_question_records(path: Path, hint: str, kind: type = dict) -> Iterator[Value]:
    """Yield the objects, or values of a `kind`, of a file of questions (`.jsonl`, `.json`, `.gz`).

    Raises InputError for another kind of file, and with `hint` for other values and for none.
    """
    if extension(path) not in (".json", ".jsonl"):
        raise InputError("not a file of questions", where=shown(path), hint="Give .jsonl or .json.")
    value = None
    for value in read_values(path, "questions"):
        if not isinstance(value.value, kind):
            raise InputError("not a question", where=value.where, hint=hint)
        yield value
    if value is None:
        raise InputError("the file holds no question", where=shown(path), hint=hint)


def _malformed(where: str, reason: str) -> Value:
    return Value(InputError(f"not JSON ({reason})", where=where), where)


def _decoded(file: IO[bytes], name: str) -> Iterator[str]:
    decoder, line = codecs.getincrementaldecoder("utf-8-sig")(), 1
    while data := file.read(1 << 20):
        try:
            text = decoder.decode(data)
        except UnicodeDecodeError as error:
            line += error.object.count(b"\n", 0, error.start)
            raise not_text("utf-8", f"{name}:{line}") from error
        yield text
        line += text.count("\n")


#: Bytes of a TOML file, and dots in a line: the parser is quadratic in the parts of a key.
_LARGEST_TOML, _MOST_DOTS = 1 << 20, 200


def read_toml(path: Path | Traversable, hint: str) -> tuple[str, dict[str, Any]]:
    """Return the text and the values of a TOML file that somebody wrote.

    Raises OSError if unreadable, ConfigurationError with `hint` if it is no TOML or over 1 MB.
    """
    with path.open("rb") as file:
        data: bytes = file.read(_LARGEST_TOML + 1)
    try:
        text = data.decode("utf-8-sig")
        dots = (line.count(".") for line in text.splitlines())
        if len(data) > _LARGEST_TOML or max(dots, default=0) > _MOST_DOTS:
            raise ValueError(f"it is too large, or a line has over {_MOST_DOTS} dots: break it")
        return text, tomllib.loads(text)
    except UnicodeDecodeError:
        reason = "its text is not UTF-8"
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as error:
        reason = str(error)
    line = re.search(r" \(at line (\d+), [^(]*\)$", reason)
    where, reason = (f"{path}:{line[1]}", reason[: line.start()]) if line else (str(path), reason)
    raise ConfigurationError(f"this is no TOML ({reason})", where=where, hint=hint)


def is_gone(path: str) -> bool:
    """Return whether there is no such file, as far as one may look."""
    try:
        Path(path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
