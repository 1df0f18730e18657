"""Removes a model's reasoning from its reply, and estimates tokens."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

#: What servers and models write besides replies: `messages.toml` describes it.
KNOWN = tomllib.loads(Path(__file__).with_name("messages.toml").read_text("utf-8"))
_MARKS: dict[str, str] = KNOWN["reasoning"]
_ENDS = {begin.lower(): re.compile(
    # Not one in quotes, which is spoken of; a quote behind a word ends what it quotes.
    rf"(?i)(?:(?<![`\"'“‘«「])|(?<=[a-z0-9.!?][\"'])){end}|{end}(?![`\"'”’»」]|\Z)"
) for begin, end in zip(_MARKS, map(re.escape, _MARKS.values()), strict=True)}  # fmt: skip
_BEGINS = re.compile(
    rf"\s*(?:<\|start\|>assistant)?({'|'.join(map(re.escape, _MARKS))})", re.IGNORECASE
)
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
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
#: Tokens of the chat format besides its texts.
CHAT_TOKENS = 16
#: The end of a text that may become a special token.
_PARTIAL_MARK = re.compile(r"<\|?\w*\|?\Z")
_WORD = re.compile(r"[A-Za-z]+")
_SIGN = re.compile(r"[!-/:-@\[-`{-~0-9\n]|[ \t]{2,}")
_OTHER = re.compile(r"[^\x00-\x7f]")
#: From here on (Chinese, Japanese, Korean, rare signs) a character mostly takes one or two tokens.
_WIDE = "\u2e80"


def without_reasoning(text: str, *, done: bool = True) -> str:
    """Return a reply's text without the reasoning before it; tags that it quotes stay."""
    # Each piece of a stream comes here with all before it: no expression runs for nothing.
    low, at = text.lower(), 0
    ends = [end for end in _MARKS.values() if end.lower() in low]
    outside = _CODE.sub(lambda code: " " * len(code[0]), text) if ends and "`" in text else text
    while begun := _BEGINS.match(outside, at):
        end, start = _ENDS[begun[1].lower()], begun.end()
        # Code that the reasoning left open runs on into the reply.
        ended = (bool(ends) and end.search(outside, start)) or (done and end.search(text, start))
        at = ended.end() if ended else len(text)
    if any(outside.find(end, at) >= 0 for end in ends):
        for ended in _END_ALONE.finditer(outside, at):
            at = ended.end()
    bare = _FRAME.sub("", text[at:]) if "<|" in text else text[at:]
    # A lone surrogate, from bytes cut in two, cannot be stored in a database.
    return bare.encode(errors="ignore").decode().strip()


def estimate_tokens(text: str) -> int:
    """Return a high estimate of a text's tokens: more than byte-pair tokenizers make of prose."""
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
        text = without_reasoning(raw, done=done)
        if not done:
            text = _PARTIAL_MARK.sub("", text).rstrip()
            # Reasoning may begin here.
            if text.startswith("<|") or any(mark.startswith(text[:99].lower()) for mark in _ENDS):
                return
        if text.startswith(self._sent) and text != self._sent:
            new, self._sent = text[len(self._sent) :], text
            self._on_text(new)
