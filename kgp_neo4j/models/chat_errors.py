"""What a chat server refuses, and what went wrong with it in our words."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from kgp_neo4j.errors import ModelError

__all__ = ["broken_off", "context_of", "in_our_words", "not_the_protocol", "refused_option"]

#: How servers say that a prompt is too long (OpenAI, vLLM, llama.cpp, TGI).
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context[ _](length|size|window)|"
    r"maximum (context|sequence) |(input|prompt) is too long|too many (input )?tokens",
    re.IGNORECASE,
)
#: And how much the model reads.
_READS = re.compile(
    r"(?:maximum|max|context)[\w ']*?(?:length|size|window)\D{0,20}?(?:of |is |: ?|\()(\d{2,8})",
    re.IGNORECASE,
)
_NOT_TAKEN = re.compile(
    r"not support|unsupported|not permitted|not allowed|un(known|recogni[sz]ed|expected)|extra ",
    re.IGNORECASE,
)


def context_of(error: Any) -> int | None:
    """Return how much the model reads where the prompt was too long: 0 for unknown, else None."""
    if error.status_code not in (400, 413, 422):
        return None
    body = error.body if isinstance(error.body, dict) else {}
    said = _words(error)
    if not _TOO_LONG.search(f"{getattr(error, 'code', '')} {body.get('type', '')} {said}"):
        return None
    # llama.cpp has a field for it.
    if isinstance(body.get("n_ctx"), int):
        return int(body["n_ctx"])
    found = _READS.search(said.replace(",", ""))
    return int(found[1]) if found else 0


def refused_option(error: Any, options: Collection[str]) -> str | None:
    """Return which of the options the model does not take, None where it is something else."""
    if error.status_code not in (400, 422):
        return None
    if error.param in options:
        return str(error.param)
    # Servers that check their input by a schema name the field in the text alone.
    said = _words(error)
    if _NOT_TAKEN.search(said):
        for name in sorted(options, key=len, reverse=True):
            if re.search(rf"\b{name}\b", said):
                return name
    return None


def not_the_protocol(url: str) -> ModelError:
    """Return the error of a server that replied, but not as one of a chat does."""
    return ModelError(
        "the chat server did not reply in the OpenAI protocol",
        where=url,
        hint="Check --chat-url, which most servers want to end in /v1.",
    )


def in_our_words(
    error: Exception, url: str, name: str, key: str, seconds: float, with_key: bool
) -> ModelError:
    """Return what went wrong, and what the server said of it, without the key."""
    import openai

    status = error.status_code if isinstance(error, openai.APIStatusError) else None
    if status in (401, 403):
        hint = "Set OPENAI_API_KEY to a key of this server."
        if not with_key:
            hint = (
                "No key is sent to an address that a project's kgp-neo4j.toml names: name it in "
                "OPENAI_BASE_URL, or in your own file of settings (`kgp-neo4j config`)."
            )
        return ModelError(f"the chat server refused the key ({status})", where=url, hint=hint)
    if status == 404:
        return ModelError(
            f"the chat server has no model {name!r}, or this is not its address (404)",
            where=url,
            hint="Check the model's name and --chat-url, which most servers want to end in /v1.",
        )
    if status == 429:
        what, hint = "has no room for more requests (429)", _when(error)
    elif status is not None and status >= 500:
        what, hint = f"failed ({status})", "See its log, or try again later."
    elif status is not None:
        what = f"refused the request ({status}: {_said(error, key)})"
        hint = "See what its model takes."
    elif isinstance(error, openai.APITimeoutError):
        what, hint = f"gave no reply within {seconds:g} s", "Use a quicker model, or llm.timeout."
    elif isinstance(error, openai.APIConnectionError):
        what, hint = "cannot be reached", "Start it, or check --chat-url."
    else:
        what = f"did not reply in the OpenAI protocol ({type(error).__name__})"
        hint = "Check --chat-url, which most servers want to end in /v1."
    return ModelError(f"the chat server {what}", where=url, hint=hint)


def broken_off(error: Exception | None, url: str, key: str, seconds: float) -> ModelError:
    """Return the error of a reply in pieces that never came to its end; None for a silent end."""
    import openai

    # By its name, as older versions of the package let the error of the connection itself through.
    if "Timeout" in type(error).__name__:
        what = f"fell silent for {seconds:g} s within its reply"
    elif isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
        what = f"broke off its reply ({_said(error, key)})"
    else:
        what = "lost the connection within its reply"
    return ModelError(
        f"the chat server {what}, each time that it was asked",
        where=url,
        hint="See its log, or try again later.",
    )


def _when(error: Any) -> str:
    """Return when to try again, as far as the server said."""
    seconds = error.response.headers.get("retry-after", "")
    when = f"Try again in {seconds} s" if seconds.isdecimal() else "Wait"
    return f"{when}, see your quota, or set llm.requests_per_minute."


def _said(error: Exception, key: str) -> str:
    said = " ".join(_words(error).split())[:300]
    return said.replace(key, "***") if key else said


def _words(error: Any) -> str:
    """Return what a server said: the message, and what it sent where that is none of OpenAI's."""
    said = str(getattr(error, "message", error))
    body = getattr(error, "body", None)
    if isinstance(body, dict) and "message" not in body:
        said += f" {json.dumps(body, ensure_ascii=False)}"
    return said
