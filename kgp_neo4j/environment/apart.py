"""Calls apart from this process: functions over hostile files, in workers that can be ended.

A worker is a plain subprocess that runs `worker.py` (multiprocessing would run a user's script
again), is kept for the next call, and is ended where a call exceeds its limits or nobody waits.
"""

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import Empty, Queue
from typing import Any, BinaryIO, NamedTuple, TypeAlias, TypeVar, cast
from weakref import WeakSet

import msgspec
import psutil

from kgp_neo4j.environment import worker as protocol
from kgp_neo4j.environment.files import shown, size_on_disk
from kgp_neo4j.environment.job import Progress, bar, check_job, whole_number
from kgp_neo4j.environment.kinds import PICTURES, extension, is_installed
from kgp_neo4j.types import errors

_T = TypeVar("_T")
_Frame: TypeAlias = protocol.Item | protocol.Step | protocol.Failure | protocol.End
_FRAMES = msgspec.msgpack.Decoder(_Frame)
_KINDS = {
    kind.__name__: kind
    for kind in (errors.ConfigurationError, errors.CorpusError, errors.InputError)
}
#: Seconds between two looks at a worker, and frames that it may be ahead.
_LOOK, _AHEAD = 0.1, 8
#: Bytes that a worker may have taken and be called again.
_MOST = 2 << 30
#: How many times its processor time a step may last, and seconds that a worker may take to begin.
_WALL, _START = 4, 120
#: Variables that a worker gets, and beginnings of such: no password of a database, no key.
_KEPT = (
    *("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA"),
    *("LOCALAPPDATA", "PROGRAMDATA", "SYSTEMROOT", "WINDIR", "VIRTUAL_ENV", "KGP_NEO4J_CACHE"),
    *("KGP_NEO4J_HOME", "KGP_NEO4J_THREADS", "KGP_NEO4J_PDF_PASSWORD"),
)
_BEGINNINGS = ("LC_", "XDG_", "PYTHON", "OMP_", "LD_", "DYLD_")


class Limits(NamedTuple):
    """What a call may take: seconds of processor time in a step (until it gives the next document,
    or counts the next page) and `in_all`, and bytes of memory besides what its process had.
    """

    seconds: float
    in_all: float
    memory: int


def file_limits(*paths: Path) -> Limits:
    """Return what reading files may take, by their size and the variables of the environment.

    The time for each megabyte is what a page of HTML or a sheet needs, which have no steps, and in
    all what scanned pages need; more memory is for where text may be recognised.
    """
    size = sum(map(size_on_disk, paths))
    seconds, megabytes = whole_number("KGP_NEO4J_FILE_SECONDS", 30), size / 1e6
    memory = whole_number("KGP_NEO4J_FILE_MEMORY", 1024) << 20
    pictured = {".pdf", ".eml", *PICTURES}.intersection(map(extension, paths))
    if pictured and is_installed("rapidocr"):
        memory *= 3
    return Limits(seconds + 20 * megabytes, seconds + 1000 * megabytes, memory + 8 * size)


def _environment() -> dict[str, str]:
    kept = [n for n in os.environ if n.upper() in _KEPT or n.upper().startswith(_BEGINNINGS)]
    path = os.pathsep.join(filter(None, sys.path))
    return {name: os.environ[name] for name in kept} | {"PYTHONPATH": path}


class _Worker:
    """A process that makes one call at a time."""

    def __init__(self, module: str) -> None:
        self.environment = _environment()
        self._process = subprocess.Popen(
            # -P: the folder that somebody loads from is no place to import from.
            [sys.executable, "-P", "-m", "kgp_neo4j.environment.worker", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.environment,
            start_new_session=True,  # Ctrl-C is for this process
        )
        self._used = psutil.Process(self._process.pid)
        #: The end of a call has not been taken.
        self.is_busy = False
        self._frames = Queue[_Frame | None](_AHEAD)
        self._exchange = threading.Thread()
        _ALL.add(self)

    @property
    def is_alive(self) -> bool:
        """Whether it can be called."""
        return self._process.poll() is None

    def used(self) -> tuple[float, int]:
        """Return the seconds of processor time and the bytes of memory that it has taken."""
        with suppress(psutil.Error), self._used.oneshot():
            times = self._used.cpu_times()
            return times.user + times.system, self._used.memory_info().rss
        return 0.0, 0  # it has ended

    def call(self, call: protocol.Call) -> Queue[_Frame | None]:
        """Begin a call; return the queue of its frames, with None once there will be no more."""
        frames = self._frames = Queue[_Frame | None](_AHEAD)
        self.is_busy = True
        to, back = cast("tuple[BinaryIO, BinaryIO]", (self._process.stdin, self._process.stdout))

        def exchange() -> None:
            try:
                protocol.write_frame(to, call)
                while True:
                    frame = _FRAMES.decode(protocol.read_frame(back, call.memory))
                    frames.put(frame)
                    if isinstance(frame, protocol.End):
                        return
            except (OSError, EOFError, ValueError, msgspec.MsgspecError):
                frames.put(None)

        self._exchange = threading.Thread(target=exchange, name="kgp-worker", daemon=True)
        self._exchange.start()
        return frames

    def kill(self) -> int:
        """End it, and return its exit code, which is that of its own where it had ended."""
        self._process.kill()
        code = self._process.wait()
        while self._exchange.is_alive():  # it may wait for room
            with suppress(Empty):
                self._frames.get(timeout=_LOOK)
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                cast("BinaryIO", pipe).close()
        _ALL.discard(self)
        return code


_ALL = WeakSet[_Worker]()


@atexit.register
def _kill_all() -> None:
    for worker in list(_ALL):
        worker.kill()


class Workers:
    """Workers that call the functions of one module, `most` at a time."""

    def __init__(self, module: str, most: int = 64) -> None:
        self._module, self._most = module, most
        self._forget()
        if hasattr(os, "register_at_fork"):  # pipes serve one process
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._idle: list[_Worker] = []
        self._places = threading.Semaphore(self._most)

    def start(self) -> None:
        """Start a worker where none is idle: it will be ready sooner."""
        if not self._idle:
            self._idle.append(_Worker(self._module))

    def result(self, kind: type[_T], limits: Limits, name: str, *arguments: Any) -> _T:
        """Return what a function gives; raises its error, and those of `items`."""
        [given] = self.items(kind, limits, Progress(), name, *arguments)
        if isinstance(given, errors.InputError):
            raise given
        return given

    def items(
        self, kind: type[_T], limits: Limits, progress: Progress, name: str, *arguments: Any
    ) -> Iterator[_T | errors.InputError]:
        """Yield what the function of a name gives, each of a `kind` or a fault, as it comes.

        `progress` counts bytes; further bars are shown as the function has them. Raises what ends
        the call: its own error (RuntimeError for one that is not ours), InputError where it takes
        more than the `limits` or its process dies, StoppedError where nobody waits.
        """
        read = msgspec.msgpack.Decoder(kind)
        with self._lent() as worker, ExitStack() as shown:
            bars: dict[str, tuple[Progress, int]] = {"": (progress, 0)}
            call = protocol.Call(name, [*arguments], limits.seconds, limits.memory)
            for frame in _watched(worker, call, limits):
                if isinstance(frame, protocol.Item):
                    yield read.decode(frame.value)
                elif isinstance(frame, protocol.Step):
                    if frame.step not in bars:
                        made = shown.enter_context(bar(frame.step, frame.total, "pages"))
                        bars[frame.step] = made, 0
                    line, done = bars[frame.step]
                    line.update(frame.done - done)
                    bars[frame.step] = line, frame.done
                elif isinstance(frame, protocol.Failure):
                    yield errors.InputError(frame.what, where=frame.where, hint=frame.hint)

    def read(
        self, kind: type[_T], paths: Sequence[Path], progress: Progress, name: str, *arguments: Any
    ) -> Iterator[_T | errors.InputError]:
        """Yield what a function gives of files, and a fault where it cannot go on with them.

        Raises StoppedError where nobody waits.
        """
        where = shown(paths[0])
        try:
            yield from self.items(kind, file_limits(*paths), progress, name, *arguments)
        except errors.StoppedError:
            raise
        except errors.KgpError as error:  # a setting, the disk, or a limit
            yield errors.InputError(error.what, where=error.where or where, hint=error.hint)
        except Exception as error:
            yield errors.InputError(f"cannot be read ({errors.first_line(error)})", where=where)

    @contextmanager
    def _lent(self) -> Iterator[_Worker]:
        """Lend a worker, and kill it where its call has not come to an end."""
        while not self._places.acquire(timeout=_LOOK):
            check_job()
        worker = None
        try:
            with suppress(IndexError):
                worker = self._idle.pop()
            is_old = worker and (worker.environment != _environment() or worker.used()[1] > _MOST)
            if worker and (is_old or not worker.is_alive):
                worker.kill()
                worker = None
            worker = worker or _Worker(self._module)
            yield worker
        finally:
            if worker and worker.is_busy:
                worker.kill()
            elif worker:
                self._idle.append(worker)
            self._places.release()


def _watched(worker: _Worker, call: protocol.Call, limits: Limits) -> Iterator[_Frame]:
    """Yield the frames of a call; raises InputError beyond its limits, and where a worker dies."""
    first = base = 0.0
    had = 0
    began = looked = time.monotonic()
    is_begun = is_new = False
    frames = worker.call(call)
    while True:
        frame = None
        with suppress(Empty):
            frame = frames.get(timeout=_LOOK)
            if frame is None:
                raise _ended(worker.kill(), limits)
        now = time.monotonic()
        if frame is not None and not is_begun:
            is_begun, (first, had) = True, worker.used()
            base, began = first, now
            continue
        if frame is None or now - looked > _LOOK:
            check_job()
            looked, (seconds, memory) = now, worker.used()
            if not is_begun:
                if now - began > _START:
                    raise _ended(worker.kill(), limits)
                continue
            if is_new:
                base, began, is_new = seconds, now, False
            if seconds - base > limits.seconds or now - began > _WALL * limits.seconds:
                raise _too_long(limits.seconds, "for a part of it")
            if seconds - first > limits.in_all:
                raise _too_long(limits.in_all, "in all")
            if memory - had > limits.memory:
                what = f"it takes more than {limits.memory >> 20:,} MB of memory"
                hint = "Split it, or allow more with KGP_NEO4J_FILE_MEMORY."
                raise errors.InputError(what, hint=hint)
        if isinstance(frame, protocol.End):
            worker.is_busy = False
            if frame.failure:
                raise _error(frame.failure)
            return
        if frame is not None:
            is_new = True
            yield frame


def _too_long(seconds: float, of_what: str) -> errors.InputError:
    what = f"it takes more than {seconds:,.3g} s of processor time {of_what}"
    return errors.InputError(what, hint="Split it, or allow more with KGP_NEO4J_FILE_SECONDS.")


def _ended(code: int, limits: Limits) -> errors.InputError:
    """Return the error for a worker that ended by itself, with its exit code."""
    name = f"code {code}"
    if code < 0:
        with suppress(ValueError):
            name = signal.Signals(-code).name
    if name == "SIGXCPU":
        return _too_long(limits.seconds, "for a part of it")
    hint = "Other files are read all the same; KGP_NEO4J_FILE_MEMORY allows more memory."
    return errors.InputError(f"the process that read it ended ({name})", hint=hint)


def _error(failure: protocol.Failure) -> Exception:
    if not failure.kind:
        return RuntimeError(failure.what)
    kind = _KINDS.get(failure.kind, errors.KgpError)
    return kind(failure.what, where=failure.where, hint=failure.hint)
