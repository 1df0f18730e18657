"""Reads a chat server's reply, in one piece or in many, whatever it makes of the protocol."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any

from kgp_neo4j.language import Reply
from kgp_neo4j.models.written import tokens_at_most, without_reasoning

__all__ = ["EndlessError", "Received", "RefusalError"]

#: How long a reply may take as a whole, in waits for a word.
_WHOLE = 10
#: More than any reply has: bytes as they are sent, and characters of its text.
_MOST_BYTES = 64 << 20
_LONGEST = 1 << 20
#: What a line of a stream begins with.
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_FINISH = {"length": "length", "max_tokens": "length", "content_filter": "refused"}


class RefusalError(Exception):
    """An error that the server sent in place of a reply, or within it."""

    #: Of its kind are those of a status of their own.
    status_code = 400

    def __init__(self, body: Any) -> None:
        self.body = body
        said = body.get("message") if isinstance(body, dict) else body
        self.message = said if isinstance(said, str) else ""
        self.code = body.get("code") if isinstance(body, dict) else None
        super().__init__(self.message)


class EndlessError(Exception):
    """A reply that does not come to its end: what it did, in words."""


class Received:
    """What came of a reply: the text so far, why it ended, and what went wrong.

    `finish` is None until the server says why it ended, `error` what broke it off, and `any` False
    as long as nothing of the protocol came.
    """

    def __init__(self) -> None:
        self.text = ""
        self.finish: str | None = None
        self.error: Exception | None = None
        self.any = False
        self._refused = False
        self._usage: Any = None

    def read(self, sent: Iterable[bytes], seconds: float) -> Iterator[str]:
        """Yield the text so far, each time that there is more of it.

        `seconds` is how long the server may be silent; what only keeps the connection is no word.
        """
        try:
            for data in _pieces(sent, seconds):
                if self._takes(data):
                    yield self.text
                if len(self.text) > _LONGEST:
                    self.finish = "length"
                    return
        except Exception as error:
            # The connection, a piece that is no JSON: what the package raises differs by its
            # version.
            self.error = error

    def reply(self) -> Reply:
        """Return the reply; its text is empty where it was refused or filtered."""
        ended = "refused" if self._refused else _FINISH.get(self.finish or "stop", "stop")
        # A reply that was cut off is still evidence to compare with.
        text = "" if ended == "refused" else without_reasoning(self.text)
        if not text and ended == "stop":
            ended = "empty"
        usage = self._usage if isinstance(self._usage, dict) else {}
        read, written = (_tokens(usage.get(f"{name}_tokens")) for name in ("prompt", "completion"))
        estimated = not read or (bool(self.text) and not written)
        # What was left out of the text was written too.
        written = written or tokens_at_most(self.text)
        return Reply(text, ended, read, written, estimated=estimated)

    def _takes(self, data: Any) -> bool:
        """Take in a piece or a whole reply; return whether there is more text."""
        if not isinstance(data, dict):
            return False
        if data.get("error") or data.get("object") == "error":
            raise RefusalError(data.get("error") or data)
        self._usage = data.get("usage") or self._usage
        choices = data.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(first, dict):
            return False
        whole = isinstance(first.get("message"), dict)
        said = first["message"] if whole else first.get("delta")
        if not isinstance(said, dict):
            return False
        self.any = True
        ended = first.get("finish_reason")
        # Some that reply in one piece do not say why it ended.
        self.finish = ended if isinstance(ended, str) and ended else self.finish
        self.finish = self.finish or ("stop" if whole else None)
        self._refused |= bool(said.get("refusal"))
        text = _text(said.get("content"))
        self.text += text
        return bool(text)


def _tokens(count: Any) -> int:
    """Return a server's count of tokens, 0 for none and for what cannot be one."""
    return count if type(count) is int and 0 < count < 1 << 40 else 0


def _text(content: Any) -> str:
    """Return a content's text: itself, or that of its parts, of which some are reasoning."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _pieces(sent: Iterable[bytes], seconds: float) -> Iterator[Any]:
    """Yield the values that a server sends: as events of a stream, or as the one of its reply.

    Raises ValueError for what is no JSON within a stream, TimeoutError where nothing but what keeps
    the connection comes, and EndlessError for what has no end.
    """
    clock = _Clock(seconds)
    whole, event = bytearray(), b""
    streamed: bool | None = None
    for line in _lines(sent, clock):
        if streamed is None and line.strip():
            streamed = line.startswith(_FIELDS)
        if not streamed:
            whole += line + b"\n"
        elif line.startswith(b"data:"):
            event += line[5:].removeprefix(b" ") + b"\n"
        elif line.strip() or not event:
            clock.check_word()
        elif event.startswith(b"[DONE]"):
            return
        else:
            given = time.monotonic()
            yield json.loads(event)
            clock.heard(time.monotonic() - given)
            event = b""
    if event.strip() and not event.startswith(b"[DONE]"):
        yield json.loads(event)
    elif not streamed:
        try:
            yield json.loads(bytes(whole))
        except (ValueError, RecursionError):
            return  # a page, or nothing


def _lines(sent: Iterable[bytes], clock: _Clock) -> Iterator[bytes]:
    """Yield what is sent by its lines; characters may be cut anywhere."""
    size, rest = 0, bytearray()
    for chunk in sent:
        size += len(chunk)
        if size > _MOST_BYTES:
            raise EndlessError(f"sent more than {_MOST_BYTES >> 20} MB for one reply")
        clock.check_whole()
        rest += chunk
        if b"\n" not in chunk:
            continue
        *lines, last = bytes(rest).split(b"\n")
        rest = bytearray(last)
        for line in lines:
            yield line.removesuffix(b"\r")
    # The last event of some has no end of its own.
    yield from (bytes(rest), b"")


class _Clock:
    """How long a reply takes, without the time that its reader takes."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begun = self._word = time.monotonic()

    def check_whole(self) -> None:
        longest = _WHOLE * self._seconds
        if time.monotonic() - self._begun > longest:
            raise EndlessError(f"did not end its reply within {longest:g} s")

    def check_word(self) -> None:
        if time.monotonic() - self._word > self._seconds:
            raise TimeoutError

    def heard(self, away: float) -> None:
        """Note a word of the server's, with which its reader was away for so many seconds."""
        self._word = time.monotonic()
        self._begun += away
