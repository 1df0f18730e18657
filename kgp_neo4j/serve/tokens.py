"""Tokens: who may see and do what; a file holds their hashes, never the tokens themselves."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.types.errors import ConfigurationError

__all__ = ["EVERYTHING", "NOTHING", "RIGHTS", "Access", "Tokens", "add_token"]

#: What a token may do: ask and look, load and delete documents, delete corpora and see metrics.
RIGHTS = ("read", "load", "admin")
#: In a list of corpora or graphs: all of them, also those that come later.
_ALL = "*"
_LOG = logging.getLogger("kgp_neo4j.serve")
_FIELDS = {"name", "sha256", "corpora", "graphs", "rights"}


@dataclass(frozen=True, slots=True)
class Access:
    """What the holder of a token may see and do; None stands for all corpora or graphs."""

    name: str
    corpora: frozenset[str] | None
    graphs: frozenset[str] | None
    rights: frozenset[str]

    def sees(self, kind: str, name: str) -> bool:
        """Return whether a "corpus" or a "graph" of that name is shown."""
        known = self.corpora if kind == "corpus" else self.graphs
        return known is None or name in known


#: Of everyone who reaches the service on this machine, where it has no tokens.
EVERYTHING = Access("local", None, None, frozenset(RIGHTS))
#: Of a request without a token, where the service has some.
NOTHING = Access("", frozenset(), frozenset(), frozenset())


class Tokens:
    """The tokens of a file, to be found by what a request sends.

    The file is read again once it was changed; while it is wrong, what it said before holds.
    Raises ConfigurationError for one that is wrong, or that others may read, at the beginning.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = _stamp(path)
        self._accesses = _accesses(path)

    def _look(self) -> None:
        stamp = _stamp(self._path)
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._accesses = _accesses(self._path)
            except ConfigurationError as error:
                _LOG.warning("%s The tokens from before hold.", error)

    def find(self, header: str) -> Access | None:
        """Return what an `Authorization` header allows; None for no token, or an unknown one.

        Hashes are compared, each in constant time, and all of them.
        """
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        self._look()
        given = hashlib.sha256(token.strip().encode(errors="replace")).digest()
        found = None
        for digest, access in self._accesses:
            if hmac.compare_digest(digest, given):
                found = access
        return found


def _accesses(path: Path) -> list[tuple[bytes, Access]]:
    return [(bytes.fromhex(each["sha256"]), _access(each)) for each in _entries(path)]


def _stamp(path: Path) -> tuple[int, int, int]:
    """Return what changes with a file and its mode; zeros where it cannot be looked at."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def add_token(
    path: Path,
    name: str,
    *,
    corpora: Collection[str] = (),
    graphs: Collection[str] = (),
    rights: Collection[str] = ("read",),
) -> str:
    """Add a token to a file, which is made where there is none; return the token.

    It is not stored and cannot be shown again. Raises ConfigurationError where the name is taken.
    """
    entries = _entries(path) if path.exists() else []
    if name in {each["name"] for each in entries}:
        raise ConfigurationError(
            f"there is a token named {name!r} already",
            where=str(path),
            hint="Choose another name, or remove its entry from the file.",
        )
    token = f"kgp_{secrets.token_urlsafe(32)}"
    entries.append(
        {
            "name": name,
            "sha256": hashlib.sha256(token.encode()).hexdigest(),
            "corpora": sorted(corpora),
            "graphs": sorted(graphs),
            "rights": [right for right in RIGHTS if right in rights],
        }
    )
    _check(entries[-1], path)
    _write(path, entries)
    return token


def _access(entry: dict[str, Any]) -> Access:
    def named(names: list[str]) -> frozenset[str] | None:
        return None if _ALL in names else frozenset(names)

    return Access(
        entry["name"],
        named(entry.get("corpora", [])),
        named(entry.get("graphs", [])),
        frozenset(entry["rights"]),
    )


def _entries(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a file, each checked."""
    try:
        with path.open(encoding="utf-8") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if os.name == "posix" and mode & 0o077:
                raise ConfigurationError(
                    f"others may read the file of tokens (mode {mode:o})",
                    where=str(path),
                    hint="Run chmod 600 on it.",
                )
            held = json.load(file)
    except OSError as error:
        raise ConfigurationError(
            f"the file of tokens cannot be read ({error.strerror})",
            where=str(path),
            hint="`kgp-neo4j serve token NAME --tokens FILE` makes one.",
        ) from error
    except ValueError as error:
        raise ConfigurationError(
            f"the file of tokens is not JSON ({error})", where=str(path)
        ) from error
    entries = held.get("tokens") if isinstance(held, dict) else None
    if not isinstance(entries, list):
        raise ConfigurationError(
            'the file of tokens has no list "tokens"',
            where=str(path),
            hint="`kgp-neo4j serve token NAME --tokens FILE` makes one.",
        )
    for entry in entries:
        _check(entry, path)
    return entries


def _check(entry: Any, path: Path) -> None:
    """Raise ConfigurationError for an entry that says something else than it may."""

    def texts(name: str) -> bool:
        held = entry.get(name, [])
        return isinstance(held, list) and all(isinstance(each, str) for each in held)

    wrong = "an entry is no object"
    if isinstance(entry, dict):
        digest = entry.get("sha256")
        if not isinstance(entry.get("name"), str) or not entry["name"].strip():
            wrong = "a token has no name"
        elif unknown := sorted(entry.keys() - _FIELDS):
            wrong = f"the token {entry['name']!r} has unknown fields ({', '.join(unknown)})"
        elif not isinstance(digest, str) or not _is_digest(digest):
            wrong = f"the token {entry['name']!r} has no SHA-256 of 64 hex digits"
        elif not texts("corpora") or not texts("graphs"):
            wrong = f"the corpora and graphs of the token {entry['name']!r} are no lists of names"
        elif not texts("rights") or not entry.get("rights") or set(entry["rights"]) - set(RIGHTS):
            wrong = f"the rights of the token {entry['name']!r} are not among {', '.join(RIGHTS)}"
        else:
            return
    raise ConfigurationError(wrong, where=str(path), hint="docs/serve.md shows such a file.")


def _is_digest(text: str) -> bool:
    return len(text) == 64 and all(letter in "0123456789abcdef" for letter in text)


def _write(path: Path, entries: list[dict[str, Any]]) -> None:
    """Replace the file at once, readable by its owner alone."""
    made = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({"tokens": entries}, file, indent=2, ensure_ascii=True)
            file.write("\n")
        made.replace(path)
    except OSError as error:
        made.unlink(missing_ok=True)
        raise ConfigurationError(
            f"the file of tokens cannot be written ({error.strerror})", where=str(path)
        ) from error
