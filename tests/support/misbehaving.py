"""What a worker of the tests calls: functions that do not come to an end as they should."""

import os
import signal
import time
from collections.abc import Iterator

from kgp_neo4j.types.errors import CorpusError, InputError


def say(text: str) -> str:
    """Give a text back."""
    print("this is no frame")
    return text


def own_id() -> int:
    """Give the process's id."""
    return os.getpid()


def variables() -> list[str]:
    """Give the names of the environment's variables."""
    return sorted(os.environ)


def parts(count: int) -> Iterator[int | InputError]:
    """Give numbers, faults among them."""
    for number in range(count):
        yield InputError(f"no {number}", where="here", hint="Go on.") if number % 3 == 2 else number


def refuse() -> None:
    """Raise an error of ours."""
    raise CorpusError("not here", where="there")


def fail() -> None:
    """Raise an error that is not ours."""
    raise KeyError("what")


def spin() -> Iterator[int]:
    """Give one number, and work without an end."""
    yield os.getpid()
    while True:
        pass


def count() -> Iterator[int]:
    """Give numbers without an end."""
    number = 0
    while True:
        number += 1
        yield number


def wait() -> None:
    """Wait without an end."""
    while True:
        time.sleep(60)


def grow() -> None:
    """Take memory without an end."""
    kept = []
    while True:
        kept.append(b"x" * (1 << 20))


def crash() -> None:
    """Die as from a fault in a library."""
    os.kill(os.getpid(), signal.SIGSEGV)


def leave() -> None:
    """End the process."""
    os._exit(3)


def babble() -> None:
    """Send what is no frame."""
    for at in range(3, 20):
        try:
            os.write(at, b"\0\0\0\4abcd")
        except OSError:
            continue
