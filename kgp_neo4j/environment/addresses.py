"""Checks the addresses of chat servers, hides secrets in them, and reads the key."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from kgp_neo4j.environment.disk import read_private
from kgp_neo4j.types.errors import ConfigurationError


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
        raise ConfigurationError(
            "the chat server's address is no http address",
            where=where,
            hint="Give one like http://127.0.0.1:8000/v1.",
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigurationError(
            "the chat server's address holds a user, a password or a query",
            where=where,
            hint="Give the address alone, and the key in OPENAI_API_KEY.",
        )
    return url.rstrip("/")


def shown_url(text: str) -> str:
    """Return an address for display, without user, password and query."""
    try:
        parts = urlsplit(text)
        if not (parts.username or parts.password or parts.query or parts.fragment):
            return text
    except ValueError:
        return "(no address)"
    return f"{parts.scheme}://***@{parts.netloc.rpartition('@')[2]}{parts.path}"


# --- The key ---

KEY_VARIABLE = "OPENAI_API_KEY"


def read_key(key_file: Path | None) -> str:
    """Return the key in OPENAI_API_KEY, else the one in the file; empty where there is none.

    Raises ConfigurationError for a file that others may read and for a malformed key; the message
    does not contain the key.
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
        raise ConfigurationError(
            f"{where} holds characters that no key has", hint="Copy the key once more."
        )
    return key
