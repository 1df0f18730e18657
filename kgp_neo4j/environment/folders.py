"""The folders of kgp-neo4j, and what reaches databases and chat servers: addresses and keys."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import quote, urlsplit

from platformdirs import user_cache_dir, user_data_dir

from kgp_neo4j.environment.disk import read_private
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.types.errors import ConfigurationError

_APP = "kgp-neo4j"


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach a database; the password is never in a `repr`, a log or an error.

    `browser` is the address of Neo4j Browser (`http://host:port`), if known; `embedded` the server
    that kgp-neo4j starts itself. Raises ConfigurationError for an address that cannot be used.
    """

    uri: str
    username: str
    password: str = field(repr=False)
    database: str = "neo4j"
    browser: str | None = None
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
    username = os.environ.get("NEO4J_USERNAME") or "neo4j"
    return Connection(uri, username, password, os.environ.get("NEO4J_DATABASE") or "neo4j")


_BOLT_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
#: Ports of Neo4j's HTTP and HTTPS, at which Browser is.
_HTTP_PORTS = (7474, 7473)


def checked_bolt(address: str, where: str = "NEO4J_URI") -> str:
    """Return the address of a Neo4j server, without blanks and quotes round it.

    Raises ConfigurationError for one that cannot be used. No user or password that stands in it is
    shown.
    """
    text = address.strip("\"'“”‘’ \t\r\n/")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        parts, port = urlsplit("neo4j://"), None
    scheme, path = parts.scheme, parts.path.strip("/") or parts.fragment
    is_one = re.fullmatch(r"(?i)([\w.-]+|\[[0-9a-f:.]+(%[\w.]+)?\])(:\d+)?", parts.netloc)
    problems = {
        "holds a user or a password": "@" in text,
        "is the address of Neo4j Browser (HTTP), not of Bolt": (
            scheme in ("http", "https") or port in _HTTP_PORTS
        ),
        "does not begin with neo4j://, bolt://, or one of these with +s or +ssc": (
            scheme not in _BOLT_SCHEMES
        ),
        "does not name one host, with a port from 1 to 65535 if any": not is_one or port == 0,
        "has a path; the name of a database goes into NEO4J_DATABASE": path,
        "has a query, which only neo4j:// takes": parts.query and not scheme.startswith("neo4j"),
    }
    wrong = next((problem for problem, there in problems.items() if there), None)
    if wrong is None:
        return f"{scheme}://{parts.netloc}{'?' if parts.query else ''}{parts.query}"
    shown = f" ({text.partition('?')[0][:200]})" if "@" not in text and text.isprintable() else ""
    hint = f"Set {where} to one like neo4j://localhost:7687, or neo4j+s://HOST for TLS; user and "
    hint += "password go into NEO4J_USERNAME and NEO4J_PASSWORD."
    raise ConfigurationError(f"{where}{shown} {wrong}", hint=hint)


def checked_url(url: str, where: str | None = None) -> str:
    """Return a valid address without secrets; raises ConfigurationError for any other."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable()
        # An invalid port raises ValueError.
        usable = usable and parts.port != 0 and not set(url) & {" ", "\\"}
    except ValueError:
        usable = False
    if not usable:
        what = "the chat server's address is no http address"
        raise ConfigurationError(what, where=where, hint="Give one like http://127.0.0.1:8000/v1.")
    if parts.username or parts.password or parts.query or parts.fragment:
        what = "the chat server's address holds a user, a password or a query"
        hint = "Give the address alone, and the key in OPENAI_API_KEY."
        raise ConfigurationError(what, where=where, hint=hint)
    return url.rstrip("/")


def shown_url(text: str) -> str:
    """Return an address for display, without user, password and query."""
    try:
        parts = urlsplit(text)
        if not ("@" in text or parts.query or parts.fragment):
            return text
    except ValueError:
        return "(no address)"
    if "@" in text and parts.username is None:
        return "***"  # a password with signs that end an address's host
    return f"{parts.scheme}://***@{parts.netloc.rpartition('@')[2]}{parts.path}"


KEY_VARIABLE = "OPENAI_API_KEY"


def read_key(key_file: Path | None) -> str:
    """Return the key in OPENAI_API_KEY, else that in the file, else "".

    Raises ConfigurationError, without the key, for a malformed one and a file that others may read.
    """
    where = KEY_VARIABLE
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key and key_file is not None:
        where = str(key_file)
        hint = "Change OPENAI_API_KEY_FILE (or llm.key_file), or make the file."
        # Whatever is not ASCII is refused below.
        key = read_private(key_file, "the key's file", hint).decode("latin-1").strip()
    # httpx refuses headers with other characters, in a message that contains the key.
    if not (key.isascii() and key.isprintable()):
        what = f"{where} holds characters that no key has"
        raise ConfigurationError(what, hint="Copy the key once more.")
    return key
