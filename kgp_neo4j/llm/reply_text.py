"""Reads what models and servers write: replies, whose tokens it estimates, and errors."""

import json
import re
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.folders import shown_url
from kgp_neo4j.text.safe import plain

#: What servers and models write besides replies: `messages.toml` describes it.
KNOWN = tomllib.loads(Path(__file__).with_name("messages.toml").read_text("utf-8"))
_MARKS: dict[str, str] = KNOWN["reasoning"]
_ENDS = {begin.lower(): re.compile(re.escape(end), re.I) for begin, end in _MARKS.items()}
_BEGINS = re.compile(rf"(?i)\s*(?:<\|start\|>assistant)?({'|'.join(map(re.escape, _MARKS))})")
_ALONE = "|".join(map(re.escape, {*_MARKS.values()} - {"<|end|>"}))
#: Such an end where its beginning is in the prompt: after a line, a sentence or a paragraph alone.
_END_ALONE = re.compile(
    rf"(?:^|[.!?…。！？])[^\S\n]*(?:{_ALONE})(?![^\S\n]*[a-z\"'”’»`])|"
    rf"^(?:{_ALONE})(?=[a-z])|(?<=\w)(?:{_ALONE})(?=[^\S\n]*\n\s*\n)",
    re.MULTILINE,
)
#: Special tokens round the reply itself.
_FRAME = re.compile(
    r"\A\s*(?:(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>|<\|START_RESPONSE\|>|"
    r"<\|begin_of_solution\|>)|<\|(?:return|end|END_RESPONSE|end_of_solution)\|>\s*\Z"
)
_CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
#: Tokens of the chat format besides its texts.
CHAT_TOKENS = 16
#: The end of a text that may become a special token.
_PARTIAL_MARK = re.compile(r"<\|?\w*\|?\Z")
#: Four letters of a word, a sign or a digit, some blanks, or a character that is not ASCII.
_TOKEN = re.compile(r"[A-Za-z]{1,4}|[!-/:-@\[-`{-~0-9\n]|[ \t]{2,}|[^\x00-\x7f]")
#: From here on (Chinese, Japanese, Korean, rare signs) a character mostly takes one or two tokens.
_WIDE = "\u2e80"


def without_reasoning(text: str) -> str:
    """Return a reply's text without the reasoning before it."""
    at = 0
    while begun := _BEGINS.match(text, at):
        ended = _ENDS[begun[1].lower()].search(text, begun.end())
        at = ended.end() if ended else len(text)
    # Each piece of a stream comes here with all before it: no expression runs for nothing.
    if any(end in text for end in _MARKS.values()):
        outside = _CODE.sub(lambda code: " " * len(code[0]), text)
        for ended in _END_ALONE.finditer(outside, at):
            at = ended.end()
    bare = _FRAME.sub("", text[at:]) if "<|" in text else text[at:]
    # A lone surrogate, from bytes cut in two, cannot be stored in a database.
    return bare.encode(errors="ignore").decode().strip()


def estimate_tokens(text: str) -> int:
    """Return a high estimate of a text's tokens: more than byte-pair tokenizers make of prose."""
    tokens: list[str] = _TOKEN.findall(text)
    wide, rare = (sum(token >= least for token in tokens) for least in (_WIDE, "\U00010000"))
    return len(tokens) + wide + 2 * rare


def settled(raw: str) -> str:
    """Return what can be shown of a reply that is still written, "" while reasoning may begin."""
    text = _PARTIAL_MARK.sub("", without_reasoning(raw)).rstrip()
    begins = text.startswith("<|") or any(mark.startswith(text[:99].lower()) for mark in _ENDS)
    return "" if begins else text


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
