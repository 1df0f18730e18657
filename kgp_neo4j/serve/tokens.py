"""Tokens: who may see and do what; a file holds their hashes, never the tokens themselves."""

import hashlib
import hmac
import logging
import secrets
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgp_neo4j.environment.disk import locked, read_private, write_private
from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.types.errors import ConfigurationError
from kgp_neo4j.types.settings import wrong_fields

#: What a token may do: ask and look, load and delete documents, delete corpora and see metrics.
RIGHTS = ("read", "load", "admin")
#: In a list of corpora or graphs: all of them, also those that come later.
_ALL = "*"
_LOG = logging.getLogger("kgp_neo4j.serve")


class Access(BaseModel):
    """What the holder of a token may see and do, as the file has it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(pattern=r"\S")]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$", repr=False)]
    corpora: list[str] = []
    graphs: list[str] = []
    rights: Annotated[list[Literal["read", "load", "admin"]], Field(min_length=1)]

    def sees(self, kind: str, name: str) -> bool:
        """Return whether a "corpus" or a "graph" of that name is shown."""
        names = self.corpora if kind == "corpus" else self.graphs
        return name in names or _ALL in names


class _File(BaseModel):
    tokens: list[Access]


#: Of everyone who reaches the service on this machine, where it has no tokens.
EVERYTHING = Access.model_construct(name="local", corpora=[_ALL], graphs=[_ALL], rights=RIGHTS)
#: Of a request without a token, where the service has some.
NOTHING = Access.model_construct(name="", rights=[])


class Tokens:
    """The tokens of a file, to be found by what a request sends.

    The file is read for every request; while it is wrong, what it said before holds, and while it
    is gone there are none.
    Raises ConfigurationError for one that is wrong, or that others may read, at the beginning.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._accesses = _read(path).tokens

    def find(self, header: str) -> Access | None:
        """Return what an `Authorization` header allows, if anything; each hash in constant time."""
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            self._accesses = _read(self._path).tokens
        except ConfigurationError as error:
            if not self._path.exists():
                _LOG.warning("%s No token holds.", error)
                return None
            _LOG.warning("%s The tokens from before hold.", error)
        sent = hashlib.sha256(token.strip().encode(errors="replace")).hexdigest()
        matches = [each for each in self._accesses if hmac.compare_digest(each.sha256, sent)]
        return matches[-1] if matches else None


def add_token(
    path: Path,
    name: str,
    *,
    corpora: Collection[str] = (),
    graphs: Collection[str] = (),
    rights: Collection[str] = ("read",),
) -> str:
    """Add a token to a file, made where there is none; return it, for it is not stored.

    Raises ConfigurationError where the name is taken.
    """
    if not is_storable(name):
        raise ConfigurationError("the token's name is no text", hint="Choose another name.")
    with locked(Path(f"{path}.lock"), "Another token is being made", _LOG.warning):
        file = _read(path) if path.exists() else _File(tokens=[])
        if name in {entry.name for entry in file.tokens}:
            what = f"there is a token named {name!r} already"
            hint = "Choose another name, or remove its entry from the file."
            raise ConfigurationError(what, where=str(path), hint=hint)
        token = f"kgp_{secrets.token_urlsafe(32)}"
        digest = hashlib.sha256(token.encode()).hexdigest()
        held: dict[str, Any] = {"corpora": sorted(corpora), "graphs": sorted(graphs)}
        held["rights"] = [right for right in RIGHTS if right in rights]
        entry = Access.model_construct(name=name, sha256=digest, **held)
        text = _File(tokens=[*file.tokens, entry]).model_dump_json(indent=2)
        _checked(text, path)
        write_private(path, f"{text}\n")
    return token


def _read(path: Path) -> _File:
    """Return the entries of a file; raises ConfigurationError where others may read it."""
    hint = "`kgp-neo4j serve token NAME --tokens FILE` makes one."
    return _checked(read_private(path, "the file of tokens", hint), path)


def _checked(text: str | bytes, path: Path) -> _File:
    """Return the entries in JSON; raises ConfigurationError where it says something else."""
    try:
        return _File.model_validate_json(text)
    except ValidationError as error:
        what = f"the file of tokens is wrong ({wrong_fields(error.errors())})"
        hint = "docs/serve.md shows one; `kgp-neo4j serve token NAME --tokens FILE` makes it."
        raise ConfigurationError(what, where=str(path), hint=hint) from None
