"""The connection to a chat server: its key, and the client that sends to it alone."""

from __future__ import annotations

import os
from typing import Any

from kgp_neo4j.configuration import LanguageSettings, read_key
from kgp_neo4j.errors import ConfigurationError, ModelError

__all__ = ["CONNECT_SECONDS", "DEFAULT_URL", "client_of", "key_of"]

DEFAULT_URL = "https://api.openai.com/v1"
#: How long a server may take to be connected to.
CONNECT_SECONDS = 10.0
#: What the package openai sends to any server, keys of other kinds included.
_HEADERS = "OPENAI_CUSTOM_HEADERS"
#: What the package takes from the environment for its connections.
_OF_CONNECTIONS = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


def key_of(url: str, settings: LanguageSettings) -> str:
    """Return the key for a server; servers of one's own often need none."""
    if not settings.with_key and os.environ.get(_HEADERS):
        raise ConfigurationError(
            f"the headers in {_HEADERS} would be sent to an address that a project's file names",
            where=url,
            hint="Name the address in OPENAI_BASE_URL or in your own file of settings, or unset "
            f"{_HEADERS}.",
        )
    key = read_key(settings.key_file) if settings.with_key else ""
    if not key and url == DEFAULT_URL:
        raise ConfigurationError(
            "no chat server is named, and OpenAI's needs a key",
            hint="Give --chat-url (or OPENAI_BASE_URL), or set OPENAI_API_KEY.",
        )
    return key


def client_of(url: str, key: str, settings: LanguageSettings) -> Any:
    """Return a client of the package openai that follows no redirection.

    Raises ModelError without the package, and ConfigurationError where what the environment says of
    proxies and certificates cannot be used.
    """
    try:
        from openai import DefaultHttpxClient, OpenAI, Timeout
    except ImportError as error:
        raise ModelError(
            "a chat server needs the package openai",
            hint='Install it: pip install "kgp-neo4j[chat]".',
        ) from error
    seconds = settings.timeout
    timeout = Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
    try:
        return OpenAI(
            base_url=url,
            api_key=key or "none",
            timeout=timeout,
            max_retries=settings.retries,
            # Prompt and headers are for the address that was given, and for no other.
            http_client=DefaultHttpxClient(timeout=timeout, follow_redirects=False),
        )
    except Exception as error:
        # What is raised differs by what is wrong. Its text may hold a proxy's password.
        named = [name for name in _OF_CONNECTIONS if _said(name)]
        hint = "Check --chat-url"
        if named:
            hint += f", and what {' and '.join(named)} say"
        raise ConfigurationError(
            f"no connection can be made ({type(error).__name__})",
            where=url,
            hint=f'{hint}; a SOCKS proxy needs pip install "httpx[socks]".',
        ) from None


def _said(name: str) -> bool:
    return bool(os.environ.get(name) or os.environ.get(name.lower()))
