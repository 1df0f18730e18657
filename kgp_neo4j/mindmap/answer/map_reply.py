"""Parses a model's reply into answer, inference and mind map, in any of the usual formats."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import regex

from kgp_neo4j.llm.reply_text import without_reasoning
from kgp_neo4j.mindmap.answer.outline_reply import RawEdge, read_edges

__all__ = ["Parsed", "parse_reply"]

# Possessive: a line of nothing but marks would else be tried at each of its places.
_LEAD = r"^[\s>#*_`\-]*+(?:\d[.)、]\s*+)?[*_]*+"
_END = r"[*_`]*\s*(?:[:：.\-–—]+|$)[*_`]*\s*"
_NUMBERED = r"(?:output|part|输出|结果)\s*[#（(]?\s*(?:{})[)）]?"
_WORDS = {
    "answer": r"(?:final\s+|summary\s+)?answer|summary|回答|答案|结论",
    "inference": r"(?:the\s+)?(?:inference|reasoning)(?:\s+process)?|推理(?:过程)?",
    "map": r"(?:the\s+)?(?:mind\s*map|decision\s+tree)|思维导图|决策树",
}
_PLACES = {"answer": "1|one|一", "inference": "2|two|二", "map": "3|three|三"}
#: What may follow "Output 1", such as ": the answer".
_TITLE = rf"(?:\s*[(（:：\-–—]\s*(?:{'|'.join(_WORDS.values())})[)）]?)*"
_HEADING = [
    (
        name,
        regex.compile(
            f"{_LEAD}(?:{_NUMBERED.replace('{}', _PLACES[name])}|{words}){_TITLE}{_END}",
            regex.IGNORECASE,
        ),
    )
    for name, words in _WORDS.items()
]
_DRAWN = regex.compile(r"[├└│→⇒▶]|--?>|^\s*(?:graph|flowchart|mindmap)\b", regex.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The parts of a reply; each is empty where the reply has none."""

    answer: str
    inference: str
    edges: tuple[RawEdge, ...]


def parse_reply(
    text: str, entities: AbstractSet[str] = frozenset(), relations: AbstractSet[str] = frozenset()
) -> Parsed:
    """Parse a reply: as JSON, by its headings, or by what looks like a drawing.

    Where the mind map has no edge, the routes of the inference are read as edges. Nothing in a
    reply is ever run or used as a template.
    """
    text = without_reasoning(text)
    parts = _json_parts(text) or _headed(text) or _unheaded(text)
    edges: list[RawEdge] = []
    for name in ("map", "inference"):
        edges = edges or _edges(parts.get(name, ""), entities, relations)
    return Parsed(_clean(parts.get("answer", "")), _clean(parts.get("inference", "")), tuple(edges))


def _edges(part: Any, entities: AbstractSet[str], relations: AbstractSet[str]) -> list[RawEdge]:
    if isinstance(part, str):
        return read_edges(part, entities, relations)
    edges = []
    for row in part if isinstance(part, list) else []:
        if isinstance(row, dict):
            row = [row.get("head"), row.get("relation", ""), row.get("tail")]
        if isinstance(row, list) and len(row) == 3 and all(isinstance(x, str) for x in row):
            edges.append(RawEdge(row[0].strip(), row[1].strip(), row[2].strip()))
    return [edge for edge in edges if edge.head and edge.tail]


def _headed(text: str) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    here = ""
    for line in text.splitlines():
        heading = next(((n, m) for n, p in _HEADING if (m := p.match(line))), None)
        # A repeated heading is a line of the part that it is in.
        if heading and heading[0] not in found:
            here = heading[0]
            found[here] = [line[heading[1].end() :]]
        elif here:
            found[here].append(line)
    if set(found) <= {"answer"} and not found.get("answer"):
        return {}
    parts = {name: "\n".join(lines) for name, lines in found.items()}
    if "answer" in parts and len(parts) == 1:
        return _unheaded(parts["answer"])
    if "answer" not in parts:
        lines = text.splitlines()
        at = next(i for i, x in enumerate(lines) if any(p.match(x) for _, p in _HEADING))
        parts["answer"] = "\n".join(lines[:at])
    return parts


def _unheaded(text: str) -> dict[str, str]:
    """Split a reply without headings at the first drawn line: answer before it, mind map after."""
    lines = text.splitlines()
    drawn = [i for i, line in enumerate(lines) if _DRAWN.search(line)]
    if not drawn:
        return {"answer": text}
    first = drawn[0]
    # A tree's root is on the line before the first branch, without a mark.
    if first and regex.search(r"[├└│]", lines[first]) and lines[first - 1].strip():
        first -= 1
    return {"answer": "\n".join(lines[:first]), "map": "\n".join(lines[first:])}


def _json_parts(text: str) -> dict[str, Any]:
    bare = regex.sub(r"^\s*```\w*\s*|\s*```\s*$", "", text).strip()
    if not bare.startswith("{"):
        return {}
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    low = {_same_key(key): part for key, part in value.items()}
    parts: dict[str, Any] = {}
    for name, keys in (
        ("answer", ("answer", "output1")),
        ("inference", ("inference", "inferenceprocess", "reasoning", "output2")),
        ("map", ("mindmap", "decisiontree", "edges", "triples", "output3")),
    ):
        part = next((low[key] for key in keys if key in low), "")
        wanted = (str, list) if name == "map" else (str,)
        parts[name] = part if isinstance(part, wanted) else ""
    return parts if any(parts.values()) else {}


def _same_key(key: object) -> str:
    """Return a JSON key in lower case, letters and digits only."""
    return "".join(c for c in str(key).lower() if c.isascii() and c.isalnum())


def _clean(text: str) -> str:
    kept: str = regex.sub(r"^\s*```\w*\s*$", "", text, flags=regex.MULTILINE)
    closed: str = regex.sub(r"\n{3,}", "\n\n", kept)
    return closed.strip().strip("*").strip()
