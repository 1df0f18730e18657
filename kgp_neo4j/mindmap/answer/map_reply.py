"""Takes a model's reply apart: answer, inference and mind map, however it is dressed."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import regex

from kgp_neo4j.llm.reply_text import without_reasoning
from kgp_neo4j.mindmap.answer.outline_reply import RawEdge, read_edges

__all__ = ["Parsed", "parse_reply"]

_LEAD = r"^[\s>#*_`\-]*(?:\d[.)、]\s*)?[*_]*"
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
    """Return the parts of a reply under its headings, as JSON, or told by their form alone.

    Where the mind map holds no edge, those of the inference's routes stand in. Nothing in a reply
    is ever run or used as a template.
    """
    text = without_reasoning(text)
    parts = _json_parts(text) or _headed(text) or _unheaded(text)
    edges: list[RawEdge] = []
    for name in ("map", "inference"):
        edges = edges or _edges(parts.get(name, ""), entities, relations)
    return Parsed(_clean(parts.get("answer", "")), _clean(parts.get("inference", "")), tuple(edges))


def _edges(said: Any, entities: AbstractSet[str], relations: AbstractSet[str]) -> list[RawEdge]:
    if isinstance(said, str):
        return read_edges(said, entities, relations)
    made = []
    for row in said if isinstance(said, list) else []:
        if isinstance(row, dict):
            row = [row.get("head"), row.get("relation", ""), row.get("tail")]
        if isinstance(row, list) and len(row) == 3 and all(isinstance(x, str) for x in row):
            made.append(RawEdge(row[0].strip(), row[1].strip(), row[2].strip()))
    return [edge for edge in made if edge.head and edge.tail]


def _headed(text: str) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    here = ""
    for line in text.splitlines():
        heading = next(((n, m) for n, p in _HEADING if (m := p.match(line))), None)
        # A heading met again within a later part is a line of that part.
        if heading and heading[0] not in found:
            here = heading[0]
            found[here] = [line[heading[1].end() :]]
        elif here:
            found[here].append(line)
    if set(found) <= {"answer"} and not found.get("answer"):
        return {}
    made = {name: "\n".join(lines) for name, lines in found.items()}
    if "answer" in made and len(made) == 1:
        return _unheaded(made["answer"])
    if "answer" not in made:
        first = text.splitlines()
        at = next(i for i, x in enumerate(first) if any(p.match(x) for _, p in _HEADING))
        made["answer"] = "\n".join(first[:at])
    return made


def _unheaded(text: str) -> dict[str, str]:
    """Take what is drawn for the mind map, and the text before it for the answer."""
    lines = text.splitlines()
    drawn = [i for i, line in enumerate(lines) if _DRAWN.search(line)]
    if not drawn:
        return {"answer": text}
    first = drawn[0]
    # A tree's root stands, undrawn, on the line before it.
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
    made: dict[str, Any] = {}
    for name, keys in (
        ("answer", ("answer", "output1")),
        ("inference", ("inference", "inferenceprocess", "reasoning", "output2")),
        ("map", ("mindmap", "decisiontree", "edges", "triples", "output3")),
    ):
        part = next((low[key] for key in keys if key in low), "")
        wanted = (str, list) if name == "map" else (str,)
        made[name] = part if isinstance(part, wanted) else ""
    return made if any(made.values()) else {}


def _same_key(key: object) -> str:
    """Return a JSON key in lower case, letters and digits only."""
    return "".join(c for c in str(key).lower() if c.isascii() and c.isalnum())


def _clean(text: str) -> str:
    kept: str = regex.sub(r"^\s*```\w*\s*$", "", text, flags=regex.MULTILINE)
    closed: str = regex.sub(r"\n{3,}", "\n\n", kept)
    return closed.strip().strip("*").strip()
