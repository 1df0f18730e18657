"""Parses a model's reply into answer, inference and mind map."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import regex

from kgp_neo4j.llm.reply_text import without_reasoning
from kgp_neo4j.mindmap.answer.outline_reply import read_edges
from kgp_neo4j.types.mindmap import ModelReply

__all__ = ["parse_reply"]

# Possessive: a line of nothing but marks would else be tried at each of its places.
_LEAD = r"^[\s>#*_`\-]*+(?:\d[.)、]\s*+)?[*_]*+"
_END = r"[*_`]*\s*(?:[:：.\-–—]+|$)[*_`]*\s*"
_NUMBERED = r"(?:output|part|输出|结果)\s*[#（(]?\s*(?:{})[)）]?"
#: The words of a heading, and how its number may be written.
_HEADINGS = {
    "answer": (r"(?:final\s+|summary\s+)?answer|summary|回答|答案|结论", "1|one|一"),
    "inference": (
        r"(?:the\s+)?(?:inference|reasoning)(?:\s+process)?|推理(?:过程)?",
        "2|two|二",
    ),
    "map": (r"(?:the\s+)?(?:mind\s*map|decision\s+tree)|思维导图|决策树", "3|three|三"),
}
#: What may follow "Output 1", such as ": the answer".
_TITLE = rf"(?:\s*[(（:：\-–—]\s*(?:{'|'.join(w for w, _ in _HEADINGS.values())})[)）]?)*"
_PATTERNS = {
    name: regex.compile(
        f"{_LEAD}(?:{_NUMBERED.replace('{}', number)}|{words}){_TITLE}{_END}", regex.IGNORECASE
    )
    for name, (words, number) in _HEADINGS.items()
}
_DRAWN = regex.compile(r"[├└│→⇒▶]|--?>")


def parse_reply(
    text: str, entities: AbstractSet[str] = frozenset(), relations: AbstractSet[str] = frozenset()
) -> ModelReply:
    """Parse a reply by its headings, or by what looks like a drawing; no edge is checked.

    Where the mind map has no edge, the routes of the inference are read as edges. Nothing in a
    reply is ever run or used as a template.
    """
    bare = without_reasoning(text)
    parts = _headed(bare) or _unheaded(bare)
    edges = read_edges(parts.get("map", ""), entities, relations)
    edges = edges or read_edges(parts.get("inference", ""), entities, relations)
    answer, inference = (_clean(parts.get(name, "")) for name in ("answer", "inference"))
    return ModelReply(text, answer, inference, tuple(edges))


def _headed(text: str) -> dict[str, str]:
    """Split a reply at its headings; what stands before the first one is the answer if no other."""
    parts: dict[str, list[str]] = {}
    before: list[str] = []
    lines = before
    for line in text.splitlines():
        heading = next(((n, m) for n, p in _PATTERNS.items() if (m := p.match(line))), None)
        # A repeated heading is a line of the part that it is in.
        if heading and heading[0] not in parts:
            lines = parts[heading[0]] = [line[heading[1].end() :]]
        else:
            lines.append(line)
    if not parts:
        return {}
    parts.setdefault("answer", before)
    texts = {name: "\n".join(lines) for name, lines in parts.items()}
    return texts if len(texts) > 1 else _unheaded(texts["answer"])


def _unheaded(text: str) -> dict[str, str]:
    """Split a reply without headings at the first drawn line: answer before it, mind map after."""
    lines = text.splitlines()
    first = next((at for at, line in enumerate(lines) if _DRAWN.search(line)), len(lines))
    if first == len(lines):
        return {"answer": text}
    # A tree's root is on the line before the first branch, without a mark.
    if first and regex.search(r"[├└│]", lines[first]) and lines[first - 1].strip():
        first -= 1
    return {"answer": "\n".join(lines[:first]), "map": "\n".join(lines[first:])}


def _clean(text: str) -> str:
    unfenced: str = regex.sub(r"^\s*```\w*\s*$", "", text, flags=regex.MULTILINE)
    closed: str = regex.sub(r"\n{3,}", "\n\n", unfenced)
    return closed.strip().strip("*").strip()
