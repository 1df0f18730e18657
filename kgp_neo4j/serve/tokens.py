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
from typing import Annotated, Literal, TypeVar

from kgp_neo4j.environment.disk import private_folder, write_private
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.types.errors import ConfigurationError

with needs("serve", "the service"):
    from pydantic import BaseModel, ConfigDict, Field, ValidationError

__all__ = ["EVERYTHING", "NOTHING", "RIGHTS", "Access", "Tokens", "add_token"]

#: What a token may do: ask and look, load and delete documents, delete corpora and see metrics.
RIGHTS = ("read", "load", "admin")
#: In a list of corpora or graphs: all of them, also those that come later.
_ALL = "*"
_LOG = logging.getLogger("kgp_neo4j.serve")


class _Entry(BaseModel):
    """One token, as the file has it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(pattern=r"\S")]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    corpora: list[str] = []
    graphs: list[str] = []
    rights: Annotated[list[Literal["read", "load", "admin"]], Field(min_length=1)]

    def access(self) -> Access:
        """Return what this token may see and do."""
        corpora, graphs = (
            None if _ALL in names else frozenset(names) for names in (self.corpora, self.graphs)
        )
        return Access(self.name, corpora, graphs, frozenset(self.rights))


class _File(BaseModel):
    tokens: list[_Entry]


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

    def find(self, header: str) -> Access | None:
        """Return what an `Authorization` header allows; None for no token, or an unknown one.

        Hashes are compared, each in constant time, and all of them.
        """
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        if (stamp := _stamp(self._path)) != self._stamp:
            self._stamp = stamp
            try:
                self._accesses = _accesses(self._path)
            except ConfigurationError as error:
                _LOG.warning("%s The tokens from before hold.", error)
        sent = hashlib.sha256(token.strip().encode(errors="replace")).digest()
        matches = [a for digest, a in self._accesses if hmac.compare_digest(digest, sent)]
        return matches[-1] if matches else None


def _accesses(path: Path) -> list[tuple[bytes, Access]]:
    return [(bytes.fromhex(entry.sha256), entry.access()) for entry in _read(path).tokens]


def _stamp(path: Path) -> tuple[int, int, int]:
    """Return what changes with a file and its mode; zeros where it cannot be looked at."""
    try:
        state = path.stat()
    except OSError:
        return 0, 0, 0
    return state.st_ino, state.st_mtime_ns, state.st_ctime_ns


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
    file = _read(path) if path.exists() else _File(tokens=[])
    if name in {entry.name for entry in file.tokens}:
        raise ConfigurationError(
            f"there is a token named {name!r} already",
            where=str(path),
            hint="Choose another name, or remove its entry from the file.",
        )
    token = f"kgp_{secrets.token_urlsafe(32)}"
    entry = {
        "name": name,
        "sha256": hashlib.sha256(token.encode()).hexdigest(),
        "corpora": sorted(corpora),
        "graphs": sorted(graphs),
        "rights": [right for right in RIGHTS if right in rights],
    }
    file.tokens.append(_checked(_Entry, json.dumps(entry), path))
    private_folder(path.parent)
    write_private(path, f"{file.model_dump_json(indent=2)}\n")
    return token


_M = TypeVar("_M", bound=BaseModel)


def _checked(model: type[_M], text: str, path: Path) -> _M:
    """Return JSON as a model; raises ConfigurationError where it says something else."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}".removeprefix(": ")
            for each in error.errors(include_input=False)
        )
        raise ConfigurationError(
            f"the file of tokens is wrong ({wrong})",
            where=str(path),
            hint="docs/serve.md shows one; `kgp-neo4j serve token NAME --tokens FILE` makes it.",
        ) from None


def _read(path: Path) -> _File:
    """Return the entries of a file; raises ConfigurationError where others may read it."""
    try:
        with path.open(encoding="utf-8") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if os.name == "posix" and mode & 0o077:
                raise ConfigurationError(
                    f"others may read the file of tokens (mode {mode:o})",
                    where=str(path),
                    hint="Run chmod 600 on it.",
                )
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"the file of tokens cannot be read ({getattr(error, 'strerror', '') or error})",
            where=str(path),
            hint="`kgp-neo4j serve token NAME --tokens FILE` makes one.",
        ) from error
    return _checked(_File, text, path)
