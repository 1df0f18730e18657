"""Removes a model's reasoning from its reply, and estimates tokens."""

from __future__ import annotations

import re
from collections.abc import Callable

#: Marks that begin a model's reasoning.
REASONING_MARKS = ("<think>", "<thinking>", "<reasoning>")
#: The reasoning that some models write before their reply.
_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
#: The same where the opening mark is in the prompt.
_REASONING_END = re.compile(r"\A.*</(think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
#: The end of a text that may become such a mark.
_PARTIAL_MARK = re.compile(r"<[a-z]{0,9}\Z", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]+")
_SIGN = re.compile(r"[!-/:-@\[-`{-~0-9\n]|[ \t]{2,}")
_OTHER = re.compile(r"[^\x00-\x7f]")
#: From here on (Chinese, Japanese, Korean, rare signs) a character mostly takes one or two tokens.
_WIDE = "\u2e80"


def without_reasoning(text: str) -> str:
    """Return a reply's text without the reasoning before it."""
    bare = _REASONING.sub(" ", text)
    if "</" in bare:
        bare = _REASONING_END.sub(" ", bare)
    # A lone surrogate, from bytes cut in two, cannot be stored in a database.
    return bare.encode(errors="ignore").decode().strip()


def estimate_tokens(text: str) -> int:
    """Return a high estimate of a text's tokens for any tokenizer.

    Counts a token for each four letters of a word, each digit and each sign, and up to four for a
    character outside of ASCII: more than byte-pair tokenizers produce for prose.
    """
    words = sum(1 + (len(word) - 1) // 4 for word in _WORD.findall(text))
    others = "".join(_OTHER.findall(text))
    wide = sum(character >= _WIDE for character in others)
    rare = sum(character > "\uffff" for character in others)
    return words + len(_SIGN.findall(text)) + len(others) + wide + 2 * rare


class ReplyStream:
    """Passes a reply on while it is written, without reasoning, each part once, if to anybody."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self._sent = ""

    def show(self, raw: str, *, done: bool = False) -> None:
        """Pass on the new part of a reply; `raw` is the whole reply so far."""
        if self._on_text is None:
            return
        text = without_reasoning(raw)
        if not done:
            text = _PARTIAL_MARK.sub("", text).rstrip()
        if text.startswith(self._sent) and text != self._sent:
            new, self._sent = text[len(self._sent) :], text
            self._on_text(new)
