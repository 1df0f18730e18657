"""Formulas and numbers as text: E=mc^2, ∑_(i=1)^n i; 1., 2.1, (a), iv before paragraphs."""

import re
from functools import cache
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

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


# --- The numbers of paragraphs in Word and in lists of pages ---

_PLACE = re.compile("%([1-9])")
#: The formats of pages (`<ol type>`), with Word's names for them.
PAGE_FORMATS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_ROMAN = {1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl"}
_ROMAN |= {10: "x", 9: "ix", 5: "v", 4: "iv", 1: "i"}
_CHINESE = "〇一二三四五六七八九"
#: Letters repeat after the last one (aa, bb), at most so often; Roman numbers end before 4,000.
_REPEATED, _MOST_ROMAN = 8, 3999


def in_format(number: int, format_: str) -> str:
    """Return a number as Word writes it in a format, in digits where that is not known."""
    if format_.endswith("Letter") and 0 < number <= 26 * _REPEATED:
        text = chr(97 + (number - 1) % 26) * (1 + (number - 1) // 26)
    elif format_.endswith("Roman") and 0 < number <= _MOST_ROMAN:
        text = ""
        for value, sign in _ROMAN.items():
            text += sign * (number // value)
            number %= value
    elif format_.startswith(("chinese", "japanese", "ideographDigital")) and 0 < number < 100:
        tens, ones = divmod(number, 10)
        text = (_CHINESE[tens] * (tens > 1) + "十") * (tens > 0)
        return text + _CHINESE[ones] * (ones > 0)
    elif format_ in ("bullet", "none"):
        return ""
    else:
        return f"{number:02}" if format_ == "decimalZero" else str(number)
    return text.upper() if format_.startswith("upper") else text


class _Level(NamedTuple):
    """How the paragraphs of a level are numbered; `restart` is the level that begins it anew."""

    start: int
    format: str
    text: str
    restart: int
    is_legal: bool
    style: str


class Numbers:
    """Counts the paragraphs of a Word file, by its numbering and its styles."""

    def __init__(self, numbering: Element, styles: Element) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._links: dict[str, str] = {}
        for list_ in numbering.findall("{*}abstractNum"):
            name = value_of(list_, "abstractNumId")
            self._levels[name] = dict(map(_level, list_.findall("{*}lvl")))
            self._links[name] = value_of(list_.find("{*}numStyleLink"))
        self._lists = {value_of(each, "numId"): each for each in numbering.findall("{*}num")}
        self._styles = {
            value_of(style, "styleId"): (
                value_of(style.find("{*}basedOn")),
                value_of(style.find("{*}pPr/{*}numPr/{*}numId")),
                _number(value_of(style.find("{*}pPr/{*}numPr/{*}ilvl")), 0),
            )
            for style in styles.findall("{*}style")
        }
        self._list = cache(self._read_list)
        self.begin()

    def begin(self) -> None:
        """Begin a text with numbers of its own."""
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()

    def label(self, paragraph: Element) -> str:
        """Count a paragraph and return its number, an empty text where it has none."""
        style = value_of(paragraph.find("{*}pPr/{*}pStyle"))
        named = value_of(paragraph.find("{*}pPr/{*}numPr/{*}numId"))
        given = value_of(paragraph.find("{*}pPr/{*}numPr/{*}ilvl"))
        by_style, usual, linked = self._of_style(style)
        name = named or by_style
        if name not in self._lists:  # also 0, which takes the number of a style away
            return ""
        list_, levels, starts = self._list(name)
        at = _number(given, usual if not named else 0)
        if not named and not given:  # the level that says which style it is for
            at = next((at for at, each in levels.items() if each.style in linked), at)
        if not (level := levels.get(at)):
            return ""
        counts = self._counts.setdefault(list_, {})
        if at in starts and (name, at) not in self._begun:
            self._begun.add((name, at))
            counts[at] = starts[at]
        else:
            counts[at] = counts[at] + 1 if at in counts else level.start
        for below in [deep for deep in counts if deep > at]:
            if at < levels.get(below, level).restart:
                del counts[below]

        def part(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            if not (own := levels.get(at)):
                return ""
            is_shown = level.is_legal and own.format not in ("bullet", "none")
            return in_format(counts.get(at, own.start), "decimal" if is_shown else own.format)

        return _PLACE.sub(part, level.text)

    def _of_style(self, style: str) -> tuple[str, int, set[str]]:
        """Return the list and level that a style gives, and the styles that it is built on."""
        linked = dict[str, None]()
        while style in self._styles and style not in linked:
            linked[style] = None
            base, name, at = self._styles[style]
            if name:
                return name, at, {*linked}
            style = base
        return "", 0, set()

    def _read_list(self, name: str) -> tuple[str, dict[int, _Level], dict[int, int]]:
        """Return what counts the paragraphs of a list, its levels, and where it begins anew."""
        node, seen = self._lists[name], {name}
        list_ = value_of(node.find("{*}abstractNumId"))
        while link := self._links.get(list_, ""):  # the list of a style of lists
            other = self._of_style(link)[0]
            if other in seen or other not in self._lists:
                break
            seen.add(other)
            list_ = value_of(self._lists[other].find("{*}abstractNumId"))
        changes = node.findall("{*}lvlOverride/{*}lvl")
        starts = {
            _number(value_of(change, "ilvl"), 0): _number(start, 1)
            for change in node.findall("{*}lvlOverride")
            if (start := value_of(change.find("{*}startOverride")))
        }
        return list_, self._levels.get(list_, {}) | dict(map(_level, changes)), starts


def _level(node: Element) -> tuple[int, _Level]:
    at = _number(value_of(node, "ilvl"), 0)
    format_ = value_of(node.find("{*}numFmt")) or "decimal"
    return at, _Level(
        _number(value_of(node.find("{*}start")), 1),
        format_,
        "" if format_ == "bullet" else value_of(node.find("{*}lvlText")),
        _number(value_of(node.find("{*}lvlRestart")), at),
        is_on(node.find("{*}isLgl")),
        value_of(node.find("{*}pStyle")),
    )


def value_of(node: Element | None, name: str = "val") -> str:
    """Return an attribute of an element, whatever its namespace; an empty text for none."""
    values = node.attrib.items() if node is not None else ()
    return next((value for key, value in values if bare(key) == name), "")


def is_on(node: Element | None) -> bool:
    """Return whether an element that switches something is there, and does not switch it off."""
    return node is not None and value_of(node) not in ("0", "false", "off")


def _number(text: str, usual: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else usual
