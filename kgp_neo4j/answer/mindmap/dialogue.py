"""Several turns of a dialogue as one question, as the paper does for CMCQA (appendix A)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kgp_neo4j.errors import InputError

__all__ = ["as_question", "read_turns"]

#: Who answers: what they said is no part of what is asked.
_OTHERS = frozenset({"assistant", "doctor", "system", "bot", "ai", "医生", "助手"})
_FORM = 'Give texts, or {"role": ..., "content": ...} objects, in one JSON list.'


def as_question(turns: Sequence[str]) -> str:
    """Return what is asked in several turns, each on a line, without empty and repeated ones."""
    return "\n".join(dict.fromkeys(turn.strip() for turn in turns if turn.strip()))


def read_turns(text: str, where: str = "the question") -> list[str]:
    """Return the turns of a text: a JSON list of texts or messages, or else the text itself.

    Of messages, those of the one who asks are taken. Raises InputError for another JSON list.
    """
    if not text.lstrip().startswith("["):
        return [text]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [text]  # a question may begin with a bracket
    turns = [_turn(row, where) for row in value]
    return [turn for turn in turns if turn]


def _turn(row: Any, where: str) -> str:
    if isinstance(row, str):
        return row
    said = row.get("content", row.get("text")) if isinstance(row, dict) else None
    if not isinstance(said, str):
        raise InputError("a turn of the dialogue is no text", where=where, hint=_FORM)
    role = str(row.get("role", row.get("speaker", "user"))).strip().lower()
    return "" if role in _OTHERS else said
