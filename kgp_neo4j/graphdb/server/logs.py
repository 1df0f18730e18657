"""Reads the server's logs, and finds the reason of a failed start in them."""

import re
import tomllib
from pathlib import Path

from kgp_neo4j.types.errors import ServerError

_ERROR_LINE = re.compile(r"Exception\b|\bERROR\b|^Error")

#: The known reasons: `pattern`, `reason` and `hint` of each.
_REASONS = tomllib.loads(Path(__file__).with_name("failures.toml").read_text("utf-8"))["reasons"]


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
    return any(re.search(_REASONS[0]["pattern"], line) for line in _lines_since(home, since))


def failure(home: Path, since: float, message: str) -> ServerError:
    """Return the error of a failed start, with the reason found in its logs."""
    lines = _lines_since(home, since)
    where = str(home / "logs")
    for known in _REASONS:
        if any(re.search(known["pattern"], line) for line in lines):
            hint = " ".join(known["hint"].split())
            return ServerError(f"{message}: {known['reason']}", where=where, hint=hint)
    # A line that names an exception is more useful than the end of its stack trace.
    shown = [line for line in lines if _ERROR_LINE.search(line)][:2] or lines[-3:]
    text = "".join(f"\n  {line[:300]}" for line in shown)
    what = f"{message}. Its logs say:{text}\n" if text else message
    return ServerError(what, where=where, hint="See `kgp-neo4j server logs`.")


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
