"""Reads the errors of chat servers: a context that is too short, a refused option, and the rest."""

import json
import re
from collections.abc import Collection
from typing import Any

from kgp_neo4j.environment.folders import shown_url
from kgp_neo4j.llm.reply_text import KNOWN
from kgp_neo4j.text.safe import plain

#: Seconds to wait for a connection.
CONNECT_SECONDS = 10.0
#: Messages of servers by their kind: a prompt that is too long, its context, a refused option.
_MESSAGES = {
    kind: re.compile("|".join(patterns), re.IGNORECASE)
    for kind, patterns in KNOWN["messages"].items()
}


def context_from(error: Any) -> int | None:
    """Return the model's context from an error about a long prompt (0: unknown), else None."""
    # An error within a reply has no status of its own.
    if getattr(error, "status_code", 400) not in (400, 413, 422):
        return None
    body = getattr(error, "body", None)
    body = body if isinstance(body, dict) else {}
    text = _server_text(error)
    said = f"{getattr(error, 'code', '')} {body.get('type', '')} {text}"
    if not _MESSAGES["too_long"].search(said):
        return None
    # llama.cpp has a field for it.
    if isinstance(body.get("n_ctx"), int):
        return int(body["n_ctx"])
    limit = _MESSAGES["context"].search(text.replace(",", ""))
    return int(limit[1] or limit[2]) if limit else 0


def refused_option(error: Any, options: Collection[str]) -> str | None:
    """Return the option that an error refuses, None for an error about anything else."""
    if getattr(error, "status_code", None) not in (400, 422):
        return None
    if isinstance(error.param, str) and error.param in options:
        return error.param
    # Servers that check their input by a schema name the field in the text alone.
    text = _server_text(error)
    named = (n for n in sorted(options, key=len, reverse=True) if re.search(rf"\b{n}\b", text))
    if _MESSAGES["not_supported"].search(text) and (name := next(named, None)):
        return name
    # A server that knows no schemas may say so in words of its own.
    return "response_format" if "response_format" in options else None


_ADDRESS = "Check --chat-url, which most servers want to end in /v1."
RETRY = "See its log, or try again later."


def _explain_status(error: Any, status: int, name: str, key: str) -> tuple[str, str]:
    if status in (401, 403):
        return f"refused the key ({status})", "Set OPENAI_API_KEY to a key of this server."
    if status == 404:
        hint = f"Check the model's name. {_ADDRESS}"
        return f"has no model {name!r}, or this is not its address (404)", hint
    if status == 429:
        when = _header(error, "retry-after")[:40]
        when = f" {when} s" if when.isdecimal() else f" until {when}" * bool(when)
        return "has no room for more requests (429)", f"Wait{when}, or see your quota."
    if status >= 500:
        return f"failed ({status})", RETRY
    if 300 <= status < 400:
        to = shown_url(_header(error, "location"))[:200]
        hint = "Nothing was sent there. Give that address with --chat-url if you trust it."
        return f"wants the request at another address ({f'{status} {to}'.strip()})", hint
    return f"refused the request ({status}: {_safe_text(error, key)})", "See what its model takes."


def explain(
    error: Exception | None, name: str, key: str, timeout: float, *, begun: bool
) -> tuple[str, str]:
    """Return what happened to a request of a model, without the key, and what to do.

    `begun` is True for a reply that broke off; `error` is None where it did so without one.
    """
    import openai

    if status := getattr(error, "status_code", 0):
        return _explain_status(error, status, name, key)
    cause = getattr(error, "__cause__", None)
    if "ConnectTimeout" in type(cause).__name__:
        seconds = min(timeout, CONNECT_SECONDS)
        return f"cannot be reached within {seconds:g} s", "Start it, or check --chat-url."
    # By its name, as some versions of the package let httpx's own error through.
    if "Timeout" in type(error).__name__:
        return f"was silent for {timeout:g} s", "Use a quicker model, or llm.timeout."
    if isinstance(error, openai.APIConnectionError) and not begun:
        hint = "Start it, or check --chat-url."
        if "SSL" in str(cause):
            hint = "Check --chat-url; for a certificate of your own, set SSL_CERT_FILE."
        return f"cannot be reached ({_safe_text(cause or error, key)})", hint
    if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
        return f"sent an error in place of its reply ({_safe_text(error, key)})", RETRY
    if begun or not (error is None or isinstance(error, ValueError | RecursionError)):
        return "lost the connection within its reply", RETRY
    if error is None or isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "did not reply in the OpenAI protocol", _ADDRESS
    # An invalid address or header; it may contain a secret and is not shown.
    hint = "Check --chat-url, OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS."
    return f"cannot be asked ({type(error).__name__})", hint


def _header(error: Any, name: str) -> str:
    return plain(error.response.headers.get(name, ""))


def _safe_text(error: Any, key: str) -> str:
    """Return a server's message on one line, cut, and without the key."""
    text = plain(_server_text(error))
    for written in {key, plain(key), json.dumps(key)[1:-1]} - {""}:
        text = text.replace(written, "***")
    return text[:300] or type(error).__name__


def _server_text(error: Any) -> str:
    """Return the message of a server's error, else the whole body."""
    body = getattr(error, "body", None)
    if body is None:
        return str(getattr(error, "message", error))
    message = body.get("message") if isinstance(body, dict) else body
    return message if isinstance(message, str) else json.dumps(body, ensure_ascii=False)
