"""Formulas and raised numbers in one line of text: E=mc^2, (a+b)/2, ∑_(i=1)^n i."""

import re
from typing import Any

#: A power or the mark of a note, whose digits would be those of the number before it.
POWER = re.compile(r"\s*[-+\u2212]?\d+\s*")
#: A part of a formula that needs no parentheses.
_ONE = re.compile(r"[-+\u2212]?(?:[\d.,]+|[^\W\d]+)|\([^()]*\)")
#: What is written before a part, and between the parts of a matrix and others.
_BEFORE = {"num": "", "den": "/", "sub": "_", "sup": "^", "lim": "_"}
_BETWEEN = {"d": "|", "m": "; ", "mr": ", ", "eqArr": "; ", "func": " "}


def raised(before: str, text: str) -> str:
    """Return a raised text as it is written after another one: 10^2, but 1st."""
    return f"^{text.strip()}" if before[-1:].isalnum() and POWER.fullmatch(text) else text


def linear(node: Any) -> str:
    """Return a formula of an office file (OMML), or a part of it, as text."""
    name = bare(node.tag)
    if name == "t":
        return node.text or ""
    own = node.iterfind(f"{{*}}{name}Pr/*")
    look: dict[str, str] = {bare(each.tag): value for each in own for value in each.attrib.values()}
    parts = []
    for child in node.iterfind("*"):
        kind, part = bare(child.tag), linear(child)
        if part and kind in _BEFORE:
            part = _BEFORE[kind] + _grouped(part)
        if not kind.endswith("Pr"):
            parts.append(part)
    text = look.get("sepChr", _BETWEEN.get(name, "")).join(parts)
    if name == "d":
        return look.get("begChr", "(") + text + look.get("endChr", ")")
    before, last = "".join(parts[:-1]), "".join(parts[-1:])
    if name == "nary":
        return f"{look.get('chr', '∫')}{before} {last}"
    if name == "rad":
        return "√" + (f"[{before}]" if before else "") + _grouped(last)
    return text + look.get("chr", "\u0302") * (name == "acc")


def bare(tag: str) -> str:
    """Return the name of an XML element without its namespace."""
    return tag.rpartition("}")[2]


def _grouped(text: str) -> str:
    return text if _ONE.fullmatch(text) else f"({text})"
