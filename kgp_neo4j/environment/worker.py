"""The program of a worker: calls in on stdin; what each gives out on stdout, as it comes.

`apart.py` starts it as `python -m kgp_neo4j.environment.worker MODULE`, and ends it. What it says
is read from hostile files, so that frames are MessagePack of declared types, never pickles.
"""

import os
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

import msgspec

from kgp_neo4j.environment.job import Job, working
from kgp_neo4j.types.errors import KgpError, first_line


class Call(msgspec.Struct):
    """A function of the worker's module to be called; its limits are there should nobody watch.

    `seconds` are of processor time between two frames, `memory` bytes.
    """

    name: str
    arguments: list[Any]
    seconds: float
    memory: int


class Item(msgspec.Struct, tag=True):
    """Something that the call gives."""

    value: msgspec.Raw


class Step(msgspec.Struct, tag=True):
    """How far a bar has come; that without a title counts the file's bytes, and begins a call."""

    step: str
    done: int
    total: int | None


class Failure(msgspec.Struct, tag=True):
    """An error of a `kind` of KgpError, "" for any other."""

    kind: str
    what: str
    where: str | None = None
    hint: str | None = None


class End(msgspec.Struct, tag=True):
    """All is given, or the call ends with an error."""

    failure: Failure | None = None


_HEAD = struct.Struct(">I")


def write_frame(file: BinaryIO, value: Any) -> None:
    """Write a value as a frame: its length and its bytes."""
    data = msgspec.msgpack.encode(value)
    file.write(_HEAD.pack(len(data)))
    file.write(data)
    file.flush()


def read_frame(file: BinaryIO, most: int) -> bytes:
    """Return the bytes of the next frame; raises EOFError for none, and for one of over `most`."""
    head = file.read(_HEAD.size)
    size = _HEAD.unpack(head)[0] if len(head) == _HEAD.size else most + 1
    data = file.read(size) if size <= most else b""
    if size > most or len(data) < size:
        raise EOFError
    return data


def _failure(error: Exception) -> Failure:
    if isinstance(error, KgpError):
        return Failure(type(error).__name__, error.what, error.where, error.hint)
    return Failure("", first_line(error))


def _answer(module: str, call: Call, send: Callable[[Any], None]) -> None:
    """Make a call and send what it gives: one value, or each of an iterator's."""
    job = Job()  # so that bars are told
    job.on_event = lambda _, step: send(Step(**step))
    try:
        send(Step("", 0, None))
        with working(job):
            given = getattr(import_module(module), call.name)(*call.arguments)
            for each in given if isinstance(given, Iterator) else (given,):
                send(_failure(each) if isinstance(each, KgpError) else Item(each))
        send(End())
    except Exception as error:
        send(End(_failure(error)))


def _bound(name: str, value: float) -> None:
    """Set a limit of the system's, where it has it; the parent's own act before."""
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        soft = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
        resource.setrlimit(kind, (soft, hard))


def _receive(file: BinaryIO, calls: SimpleQueue[Call]) -> None:
    """Queue the calls; end the process, whatever it is at, once there is nobody to call."""
    with suppress(EOFError):
        while True:
            calls.put(msgspec.msgpack.decode(read_frame(file, 1 << 31), type=Call))
    os._exit(0)


def main(module: str) -> None:
    """Answer calls until nobody is there."""
    calls = SimpleQueue[Call]()
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no frame
    Thread(target=_receive, args=(os.fdopen(os.dup(0), "rb"), calls), daemon=True).start()
    with suppress(Exception):  # it is told of the call
        import_module(module)
    while True:
        call = calls.get()

        def send(frame: Any, seconds: float = call.seconds) -> None:
            _bound("RLIMIT_CPU", time.process_time() + seconds + 2)
            write_frame(output, frame)

        # It counts what is only reserved, too, and parsers take the error that it brings for a
        # fault of the file: so it is for what is faster than who watches.
        _bound("RLIMIT_DATA", 2 * call.memory + (2 << 30))
        _answer(module, call, send)


if __name__ == "__main__":
    main(sys.argv[1])
