"""What a chat server refuses, and what went wrong with it in our words."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from kgp_neo4j.environment.addresses import shown_url
from kgp_neo4j.environment.configuration import LanguageSettings
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.errors import ModelError

__all__ = ["CONNECT_SECONDS", "context_of", "explain", "refused_option"]

#: How long a server may take to be connected to.
CONNECT_SECONDS = 10.0
#: How servers say that a prompt is too long: OpenAI, vLLM, SGLang, llama.cpp, Ollama, LM Studio,
#: TGI, Gemini, Anthropic.
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context[ _](length|size|window)|"
    r"maximum (context|sequence|model|input) |(input|prompt) is too long|too many (input )?tokens|"
    r"max_new_tokens` must be|`inputs` must have|exceeds? the (maximum|configured) (number|limit)",
    re.IGNORECASE,
)
#: And how much the model reads.
_READS = re.compile(
    r"(?:maximum|max|context|model)[\w ']*?(?:length|size|window)"
    r"\D{0,20}?(?:of |is |only |: ?|\()(\d{2,8})|"
    r"(?:must be <=|less than|configured limit of|tokens allowed \() ?(\d{2,8})",
    re.IGNORECASE,
)
_NOT_TAKEN = re.compile(
    r"not support|unsupported|not permitted|not allowed|un(known|recogni[sz]ed|expected)|extra ",
    re.IGNORECASE,
)


def context_of(error: Any) -> int | None:
    """Return how much the model reads where the prompt was too long: 0 for unknown, else None."""
    # An error within a reply has no status of its own.
    if getattr(error, "status_code", 400) not in (400, 413, 422):
        return None
    body = getattr(error, "body", None)
    body = body if isinstance(body, dict) else {}
    said = _words(error)
    if not _TOO_LONG.search(f"{getattr(error, 'code', '')} {body.get('type', '')} {said}"):
        return None
    # llama.cpp has a field for it.
    if isinstance(body.get("n_ctx"), int):
        return int(body["n_ctx"])
    found = _READS.search(said.replace(",", ""))
    return int(found[1] or found[2]) if found else 0


def refused_option(error: Any, options: Collection[str]) -> str | None:
    """Return which of the options the model does not take, None where it is something else."""
    if getattr(error, "status_code", None) not in (400, 422):
        return None
    if isinstance(error.param, str) and error.param in options:
        return error.param
    # Servers that check their input by a schema name the field in the text alone.
    said = _words(error)
    if _NOT_TAKEN.search(said):
        for name in sorted(options, key=len, reverse=True):
            if re.search(rf"\b{name}\b", said):
                return name
    return None


def explain(
    error: Exception | None,
    url: str,
    name: str,
    key: str,
    settings: LanguageSettings,
    *,
    begun: bool = False,
) -> ModelError:
    """Return what went wrong, and what the server said of it, without the key.

    `begun` is True for a reply that broke off, which a server may also do in silence (None).
    """
    import openai

    status, cause = getattr(error, "status_code", 0), getattr(error, "__cause__", None)
    what = "did not reply in the OpenAI protocol"
    hint = "Check --chat-url, which most servers want to end in /v1."
    if status in (401, 403):
        what, hint = f"refused the key ({status})", "Set OPENAI_API_KEY to a key of this server."
        if not settings.with_key:
            hint = (
                "No key is sent to an address that a project's kgp-neo4j.toml names: name it in "
                "OPENAI_BASE_URL, or in your own file of settings (`kgp-neo4j config`)."
            )
    elif status == 404:
        what = f"has no model {name!r}, or this is not its address (404)"
        hint = f"Check the model's name. {hint}"
    elif status == 429:
        what = "has no room for more requests (429)"
        when = _header(error, "retry-after")[:40]
        when = f" {when} s" if when.isdecimal() else f" until {when}" * bool(when)
        hint = f"Wait{when}, see your quota, or set llm.requests_per_minute."
    elif status >= 500:
        what, hint = f"failed ({status})", "See its log, or try again later."
    elif 300 <= status < 400:
        to = shown_url(_header(error, "location"))[:200]
        what = f"wants the request at another address ({f'{status} {to}'.strip()})"
        hint = "Nothing was sent there. Give that address with --chat-url if you trust it."
    elif status:
        what = f"refused the request ({status}: {_said(error, key)})"
        hint = "See what its model takes."
    elif "ConnectTimeout" in type(cause).__name__:
        what = f"cannot be reached within {min(settings.timeout, CONNECT_SECONDS):g} s"
        hint = "Start it, or check --chat-url."
    # By its name, as some versions of the package let the error of the connection itself through.
    elif "Timeout" in type(error).__name__:
        what = f"was silent for {settings.timeout:g} s"
        hint = "Use a quicker model, or llm.timeout."
    elif isinstance(error, openai.APIConnectionError) and not begun:
        what, hint = (
            f"cannot be reached ({_said(cause or error, key)})",
            "Start it, or check --chat-url.",
        )
        if "SSL" in str(cause):
            hint = "Check --chat-url; for a certificate of your own, set SSL_CERT_FILE."
    elif isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
        what = f"sent an error in place of its reply ({_said(error, key)})"
        hint = "See its log, or try again later."
    elif begun or not (error is None or isinstance(error, ValueError | RecursionError)):
        what, hint = "lost the connection within its reply", "See its log, or try again later."
    elif isinstance(error, ValueError) and not isinstance(
        error, json.JSONDecodeError | UnicodeDecodeError
    ):
        # An address or a header that cannot be written down; it is not shown.
        what = f"cannot be asked ({type(error).__name__})"
        hint = "Check --chat-url, and what OPENAI_ORG_ID, OPENAI_PROJECT_ID and "
        hint += "OPENAI_CUSTOM_HEADERS hold."
    return ModelError(f"the chat server {what}", where=url, hint=hint)


def _header(error: Any, name: str) -> str:
    return plain(error.response.headers.get(name, ""))


def _said(error: Any, key: str) -> str:
    """Return what was said, on one line: the key is taken out before anything is cut."""
    said = plain(_words(error))
    for written in {key, plain(key), json.dumps(key)[1:-1]} - {""}:
        said = said.replace(written, "***")
    return said[:300] or type(error).__name__


def _words(error: Any) -> str:
    """Return what a server said: the message of its error, else all that it sent."""
    body = getattr(error, "body", None)
    if body is None:
        return str(getattr(error, "message", error))
    said = body.get("message") if isinstance(body, dict) else body
    return said if isinstance(said, str) else json.dumps(body, ensure_ascii=False)
