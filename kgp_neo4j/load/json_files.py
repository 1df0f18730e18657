"""Streams the values of JSON files: one a line, or the members of one array."""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from kgp_neo4j.errors import InputError

__all__ = ["Value", "read_array", "read_lines", "read_object"]

_CHUNK = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*+")
#: A value cut off by the end of a chunk fails within this many characters of that end.
_MARGIN = 32


class Value(NamedTuple):
    """A value and where it begins (`file:line`); an InputError stands in for a broken one."""

    value: Any
    where: str


def read_lines(file: IO[bytes], name: str) -> Iterator[Value]:
    """Yield the value of each line that is not blank; broken lines as InputError."""
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
    """Yield the one object that a file holds over several lines; InputError where it is broken."""
    text = "".join(_text(file, name))
    try:
        yield Value(json.loads(text), f"{name}:1")
    except json.JSONDecodeError as error:
        yield _broken(name, error.lineno, error.msg)
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond Python's limits
        yield _broken(name, 1, str(error))


def read_array(file: IO[bytes], name: str) -> Iterator[Value]:
    """Yield the members of the one array that a file holds, a chunk in memory at a time.

    A broken member ends it with an InputError, since what follows cannot be told apart.
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


def _lines(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Return the lines of a file as UTF-8; UTF-16, told by its mark, is re-encoded as a whole."""
    start = file.peek(2)[:2]  # type: ignore[attr-defined]
    if start not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return iter(file)
    try:
        return iter(io.BytesIO(file.read().decode("utf-16").encode()))
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not utf-16 text", where=name, hint="Save the file as UTF-8."
        ) from error


def _text(file: IO[bytes], name: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    line, read = 1, 0
    while data := file.read(_CHUNK):
        held = len(decoder.getstate()[0])
        try:
            yield (text := decoder.decode(data))
        except UnicodeDecodeError as error:
            at = error.start - held
            line += data.count(b"\n", 0, max(at, 0))
            raise InputError(
                f"byte {read + at} is not utf-8 text",
                where=f"{name}:{line}",
                hint="Save the file as UTF-8.",
            ) from error
        read += len(data)
        line += text.count("\n")
