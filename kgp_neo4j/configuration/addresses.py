"""Addresses of servers: those that can be used, and how they are shown."""

from __future__ import annotations

from urllib.parse import urlsplit

from kgp_neo4j.errors import ConfigurationError

__all__ = ["checked_url", "shown_url"]


def checked_url(url: str, where: str | None = None) -> str:
    """Return the address if it is one that can be shown; raise ConfigurationError otherwise."""
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        # A port that is none is a ValueError.
        usable = usable and parts.port != 0 and not set(url.strip()) & {" ", "\\"}
        usable = usable and url.strip().isprintable()
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
    return url.strip().rstrip("/")


def shown_url(text: str) -> str:
    """Return an address without the user, password and query that it should not hold."""
    try:
        parts = urlsplit(text)
        if not (parts.username or parts.password or parts.query or parts.fragment):
            return text
    except ValueError:
        return "(no address)"
    return f"{parts.scheme}://***@{parts.netloc.rpartition('@')[2]}{parts.path}"
