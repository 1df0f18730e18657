"""What a chat server refuses, and what went wrong with it in our words."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from kgp_neo4j.configuration import shown_url
from kgp_neo4j.errors import ModelError
from kgp_neo4j.models.chat_client import CONNECT_SECONDS
from kgp_neo4j.models.chat_replies import EndlessError, RefusalError
from kgp_neo4j.printable import plain

__all__ = [
    "broken_off",
    "context_of",
    "in_our_words",
    "not_sent",
    "not_the_protocol",
    "refused_option",
]

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
    return int(found[1] or found[2]) if found else 0


def refused_option(error: Any, options: Collection[str]) -> str | None:
    """Return which of the options the model does not take, None where it is something else."""
    if error.status_code not in (400, 422) or isinstance(error, RefusalError):
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


def not_sent(error: Exception, url: str) -> ModelError:
    """Return the error of an address or a header that cannot be written down; it is not shown."""
    return ModelError(
        f"the chat server cannot be asked ({type(error).__name__})",
        where=url,
        hint="Check --chat-url, and what OPENAI_ORG_ID, OPENAI_PROJECT_ID and "
        "OPENAI_CUSTOM_HEADERS hold.",
    )


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
    elif status in (301, 302, 303, 307, 308):
        what = f"wants the request at another address ({status}{_elsewhere(error)})"
        hint = "Nothing was sent there. Give that address with --chat-url if you trust it."
    elif status is not None:
        what = f"refused the request ({status}: {_said(error, key)})"
        hint = "See what its model takes."
    elif "ConnectTimeout" in type(error.__cause__).__name__:
        what = f"cannot be reached within {min(seconds, CONNECT_SECONDS):g} s"
        hint = "Start it, or check --chat-url."
    elif isinstance(error, openai.APITimeoutError):
        what, hint = f"gave no reply within {seconds:g} s", "Use a quicker model, or llm.timeout."
    elif isinstance(error, openai.APIConnectionError):
        cause = error.__cause__
        what = f"cannot be reached ({_said(cause or error, key)})"
        hint = "Start it, or check --chat-url."
        if "SSL" in str(cause):
            hint = "Check --chat-url; for a certificate of your own, set SSL_CERT_FILE."
    else:
        what = f"did not reply in the OpenAI protocol ({type(error).__name__})"
        hint = "Check --chat-url, which most servers want to end in /v1."
    return ModelError(f"the chat server {what}", where=url, hint=hint)


def broken_off(error: Exception | None, url: str, key: str, seconds: float) -> ModelError:
    """Return the error of a reply that never came to its end; None for a silent end."""
    each = ", each time that it was asked"
    if isinstance(error, EndlessError):
        what, each = str(error), ""
    elif isinstance(error, RefusalError):
        what = f"sent an error in place of its reply ({_said(error, key)})"
    # By its name, as the package lets the error of the connection itself through.
    elif "Timeout" in type(error).__name__:
        what = f"fell silent for {seconds:g} s within its reply"
    else:
        what = "lost the connection within its reply"
    return ModelError(
        f"the chat server {what}{each}", where=url, hint="See its log, or try again later."
    )


def _when(error: Any) -> str:
    """Return when to try again, as far as the server said."""
    said = error.response.headers.get("retry-after", "").strip()
    when = "Wait"
    if said.isdecimal() and len(said) < 8:
        when = f"Try again in {said} s"
    elif re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT", said):
        when = f"Try again after {said}"
    return f"{when}, see your quota, or set llm.requests_per_minute."


def _elsewhere(error: Any) -> str:
    """Return where a server sends its requests on to, as far as it can be shown."""
    said = plain(error.response.headers.get("location", ""))
    return f" to {shown_url(said)[:200]}" if said else ""


def _said(error: Any, key: str) -> str:
    """Return what was said, on one line: the key is taken out before anything is cut."""
    said = plain(_words(error))
    for written in {key, plain(key), json.dumps(key)[1:-1]} - {""}:
        said = said.replace(written, "***")
    said = re.sub(r"^Error code: \d+( -)? ?", "", said)[:300]
    return said or type(error).__name__


def _words(error: Any) -> str:
    """Return what a server said: the message, and what it sent where that is none of OpenAI's."""
    said = str(getattr(error, "message", error))
    body = getattr(error, "body", None)
    if body is None or (isinstance(body, dict) and "message" in body):
        return said
    sent = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return said if sent in said else f"{said} {sent}"
