"""Reads the server's logs, and finds the reason of a failed start in them."""

import re
from pathlib import Path

from kgp_neo4j.types.errors import ServerError

_ERROR_LINE = re.compile(r"Exception\b|\bERROR\b|^Error")

#: Pattern of a log line, reason and hint; the first that matches is reported.
_REASONS = (
    (
        r"No space left on device|Disk quota exceeded|not enough space|DISK_SPACE",
        "the disk is full",
        "Free some space, or choose a folder on another disk with --home.",
    ),
    (
        r"Read-only file system|AccessDeniedException|Permission denied",
        "a file can't be written",
        "Check who owns the files of the folder, and that its disk is not read-only.",
    ),
    (
        r"PortBindException|Address already in use",
        "a port was taken by another program",
        "Run the command again: it chooses other ports.",
    ),
    (
        r"StoreLockException|Lock file has been locked|FileLockException",
        "another server has this folder's data open",
        "End the process with `server.args` of this folder on its command line, or choose another "
        "folder with --home.",
    ),
    (
        r"OutOfMemoryError|Could not reserve enough space|insufficient memory|Cannot allocate",
        "there is not enough memory",
        "Close other programs, or start with less: kgp-neo4j server start --memory 1g.",
    ),
    (
        r"ClassNotFoundException|NoClassDefFoundError|ZipException",
        "a jar is missing or damaged",
        "Run `kgp-neo4j server start --verify`.",
    ),
)


def tail(path: Path, lines: int) -> list[str]:
    """Return the last lines of a log, reading only its end."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - 64 * 1024 - lines * 512))  # more than these need
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return text.splitlines()[-lines:] if lines > 0 else []


def disk_is_full(home: Path, since: float) -> bool:
    """Return whether the logs of this start report a full disk: the server may hang then."""
    return any(re.search(_REASONS[0][0], line) for line in _lines_since(home, since))


def failure(home: Path, since: float, message: str) -> ServerError:
    """Return the error of a failed start, with the reason found in its logs."""
    lines = _lines_since(home, since)
    where = str(home / "logs")
    for pattern, reason, hint in _REASONS:
        if any(re.search(pattern, line) for line in lines):
            return ServerError(f"{message}: {reason}", where=where, hint=hint)
    # A line that names an exception is more useful than the end of its stack trace.
    shown = [line for line in lines if _ERROR_LINE.search(line)][:2] or lines[-3:]
    text = "".join(f"\n  {line[:300]}" for line in shown)
    return ServerError(
        f"{message}. Its logs say:{text}\n" if text else message,
        where=where,
        hint="See `kgp-neo4j server logs`.",
    )


def _lines_since(home: Path, since: float) -> list[str]:
    """Return the lines that the logs have of the start at `since` (seconds since 1970)."""
    lines: list[str] = []
    for name in ("console.log", "neo4j.log", "debug.log"):
        path = home / "logs" / name
        if path.is_file() and path.stat().st_mtime >= since - 1:
            text = "\n".join(tail(path, 200))
            # debug.log has many starts: the last one counts.
            lines += text.rpartition("Starting...")[2].splitlines()
    return [line.strip() for line in lines if line.strip()]
