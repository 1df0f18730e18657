"""The server's logs, and what they say about a start that failed."""

from __future__ import annotations

import re
from pathlib import Path

from kgp_neo4j.errors import ServerError

__all__ = ["failure", "log_files", "tail"]

_LAST = 64 * 1024  # bytes read from a log's end, more than any wanted number of lines needs

_BAD = re.compile(r"Exception\b|\bERROR\b|^Error")

#: What a log says -> what happened, and what to do. The first that fits is told.
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
        "Stop that server, or choose another folder with --home.",
    ),
    (
        r"OutOfMemoryError|Could not reserve enough space|insufficient memory|Cannot allocate",
        "there is not enough memory",
        "Close other programs, or start with less: kgp-neo4j server start --memory 1g.",
    ),
    (
        r"UnsupportedClassVersionError|Unrecognized (?:VM )?option|Unsupported Java",
        "this Java does not fit",
        "Set JAVA_HOME to a Java 17 or 21, or unset it.",
    ),
    (
        r"ClassNotFoundException|NoClassDefFoundError|ZipException",
        "a jar is missing or damaged",
        "Run `kgp-neo4j server start --verify`.",
    ),
)


def log_files(home: Path) -> tuple[Path, ...]:
    """Return the server's logs that are there: its console, its messages, its details."""
    names = ("console.log", "neo4j.log", "debug.log")
    return tuple(path for name in names if (path := home / "logs" / name).is_file())


def tail(path: Path, lines: int) -> list[str]:
    """Return the last lines of a log, without reading more than its end."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            wanted = max(_LAST, lines * 512)
            file.seek(max(0, size - wanted))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    found = text.splitlines()
    return found[-lines:] if lines > 0 else []


def failure(home: Path, since: float, what: str) -> ServerError:
    """Return the error of a start that failed, with the reason the logs of this start give."""
    texts = []
    for path in log_files(home):
        if path.stat().st_mtime >= since - 1:
            texts.append((path, tail(path, 200)))
    # debug.log holds many starts: only what was said in this one counts.
    for number, (path, lines) in enumerate(texts):
        if path.name == "debug.log":
            begin = [
                i for i, line in enumerate(lines) if "Starting..." in line or "[ System" in line
            ]
            texts[number] = (path, lines[begin[0] :] if begin else lines[-40:])
    said = "\n".join(line for _, lines in texts for line in lines)
    where = str(home / "logs")
    for pattern, reason, hint in _REASONS:
        if re.search(pattern, said):
            return ServerError(f"{what}: {reason}", where=where, hint=hint)
    told = [line.strip() for _, lines in texts for line in lines if line.strip()]
    # The line that names the exception says more than the last frames of its trace.
    shown = [line for line in told if _BAD.search(line)][:2] or told[-3:]
    text = "".join(f"\n  {line[:300]}" for line in shown)
    return ServerError(
        f"{what}. Its logs say:{text}\n" if text else what,
        where=where,
        hint="See `kgp-neo4j server logs`.",
    )
