"""The folders of kgp-neo4j and the connection to the database, from environment variables."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import quote, urlsplit

from platformdirs import user_cache_dir, user_data_dir

from kgp_neo4j.environment.addresses import checked_bolt
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.types.errors import ConfigurationError

_APP = "kgp-neo4j"


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach a database; the password is never in a `repr`, a log or an error.

    Raises ConfigurationError for an address that cannot be used.
    """

    uri: str
    username: str
    password: str = field(repr=False)
    database: str = "neo4j"
    #: Address of Neo4j Browser (`http://host:port`), if known.
    browser: str | None = None
    #: True for the server that kgp-neo4j starts and stops itself.
    embedded: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "uri", checked_bolt(self.uri, "uri"))

    @property
    def browser_address(self) -> str | None:
        """The address of Browser with server, user, database, no password; None if unknown."""
        if not self.browser:
            return None
        address = urlsplit(self.uri)
        dbms = f"{address.scheme}://{self.username}@{address.netloc}"
        return (
            f"{self.browser}/browser/?dbms={quote(dbms, safe='')}"
            f"&db={quote(self.database, safe='')}&preselectAuthMethod=NATIVE"
        )


@dataclass(frozen=True, slots=True)
class Folders:
    """The two folders kgp-neo4j writes to.

    `cache` (`KGP_NEO4J_CACHE`) has files that can be downloaded again; `home` (`KGP_NEO4J_HOME`)
    has the embedded database with its data, logs and password.
    """

    cache: Path
    home: Path

    @classmethod
    def from_environment(cls, home: Path | None = None) -> Self:
        """Return `home` or the environment's folders, else the platform's default ones."""
        cache = os.environ.get("KGP_NEO4J_CACHE") or user_cache_dir(_APP, appauthor=False)
        chosen = home or os.environ.get("KGP_NEO4J_HOME") or user_data_dir(_APP, appauthor=False)
        return cls(expanded(cache).absolute(), expanded(chosen).absolute())


def connection_from_environment() -> Connection | None:
    """Return the server that `NEO4J_URI` names, None for the embedded one."""
    uri = os.environ.get("NEO4J_URI", "").strip()
    if not uri:
        return None
    checked_bolt(uri)
    password = os.environ.get("NEO4J_PASSWORD")
    if password is None:
        hint = "Export NEO4J_PASSWORD, or unset NEO4J_URI to use the embedded database."
        raise ConfigurationError("NEO4J_URI is set but NEO4J_PASSWORD is not", hint=hint)
    return Connection(
        uri=uri,
        username=os.environ.get("NEO4J_USERNAME") or "neo4j",
        password=password,
        database=os.environ.get("NEO4J_DATABASE") or "neo4j",
    )
