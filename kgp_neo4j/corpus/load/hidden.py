"""Take out of an HTML page what its reader cannot see, by its own styles and attributes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag
from soupsieve import SelectorSyntaxError

from kgp_neo4j.text.visible import is_visible

#: Tags whose contents a browser that runs scripts, plays and draws does not show.
_UNSHOWN = frozenset(
    "annotation audio canvas datalist iframe noembed noframes noscript template video".split()
)
_FOUND, _MARKS = "until-found", {"id": "#", "class": "."}
_INHERITED = ("color", "font-size", "visibility")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
#: The id, class or name in the last part of a selector; what makes a selector more specific.
_KEY = re.compile(r"([.#]?)([\w-]+)[^\s>+~]*$")
_SPECIFIC = re.compile(r"(?P<id>#)|(?P<part>[.\[]|:(?!:))|(?P<name>(?<![\w.#:\[-])[a-z])")
_WIDTH = re.compile(r"(min|max)-width:\s*(\d+)")
#: The width of a window; how many tags are compared with selectors, and the longest of these.
_WINDOW, _MOST_COMPARED, _LONGEST = 1280, 300_000, 5_000

_Style: TypeAlias = Mapping[str, str]

#: Tags that begin a paragraph; and those whose end is left out, with the tags that end them.
PARAGRAPHS = frozenset(
    "address article aside blockquote body details div dl fieldset figure footer form h1 h2 h3 h4 "
    "h5 h6 header hr main nav ol p pre section table ul".split()
)
_ENDED_BY = {
    "p": PARAGRAPHS,
    **dict.fromkeys(("dd", "dt"), frozenset(("dd", "dt"))),
    **dict.fromkeys(("td", "th"), frozenset(("td", "th", "tr", "tbody", "tfoot"))),
    "tr": frozenset(("tr", "tbody", "tfoot")),
    "li": frozenset(("li",)),
}


class _State(NamedTuple):
    """What holds for the text within a tag, and the state around it.

    `behind` is the colour of the background; `part` says that a hidden part has been counted.
    """

    name: str
    style: _Style
    behind: str
    is_gone: bool = False
    is_unseen: bool = False
    part: bool = False
    around: Any = None


def take_out_hidden(page: BeautifulSoup) -> int:
    """Remove what is hidden from a page, and return how many parts with a text that was.

    Hidden is what attributes and the page's own styles say: `hidden`, `aria-hidden`, closed
    dialogs, display, visibility, opacity, places off the page, letters of no size or of the colour
    behind them. Closed `details` stay, which a reader opens. What other files say is not known.
    """
    styles = _styles(page)
    paper = "" if page.find("link", rel="stylesheet") else "fff"
    parts = 0
    waiting: list[tuple[Tag, _State]] = [(page, _State("", {}, paper))]
    while waiting:
        tag, state = waiting.pop()
        for child in list(tag.contents):
            if not isinstance(child, Tag):
                if state.is_unseen and type(child) is NavigableString:
                    child.extract()
                continue
            while child.name in _ENDED_BY.get(state.name, ()):
                state = state.around
            own = styles.get(id(child), {})
            inner = state
            if (is_gone := _is_gone(child, own)) or own:
                inner = _within(state, child, own, is_gone)
            elif child.name in _ENDED_BY or child.name in PARAGRAPHS:
                inner = state._replace(name=child.name, around=state)
            if inner.is_unseen and not state.part and is_visible(child.get_text()):
                parts, inner = parts + 1, inner._replace(part=True)
            if inner.is_gone and not child.find(_ENDED_BY.get(child.name, "br")):
                child.decompose()
            elif child.contents:
                waiting.append((child, inner))
    return parts


def _within(state: _State, tag: Tag, own: _Style, is_gone: bool) -> _State:
    style = {name: own.get(name, state.style.get(name, "")) for name in _INHERITED}
    fill = _colour(own.get("background-color", own.get("background", "clear")))
    behind = state.behind if fill == "clear" else fill
    is_gone = is_gone or state.is_gone
    letters = _colour(style["color"])
    is_unseen = (
        is_gone
        or style["visibility"] in ("hidden", "collapse")
        or _number(style, "font-size") == 0
        or (letters != "" and letters in ("clear", behind))
    )
    return _State(tag.name, style, behind, is_gone, is_unseen, state.part, state)


def _is_gone(tag: Tag, style: _Style) -> bool:
    """Return whether a tag is hidden with all that is in it."""
    if tag.name in _UNSHOWN or tag.get("aria-hidden") == "true" or tag.get("hidden") == _FOUND:
        return True
    closed = "hidden" in tag.attrs or (tag.name == "dialog" and "open" not in tag.attrs)
    if not style or tag.name in ("html", "body"):  # which are often hidden until a script has run
        return closed
    if style.get("display", "none" if closed else "") == "none" or _number(style, "opacity") == 0:
        return True
    if style.get("position") in ("absolute", "fixed"):
        clip = style.get("clip", "") + style.get("clip-path", "")
        if min(_number(style, "left"), _number(style, "top")) < -500 or clip.startswith(_CLIPS):
            return True
    flat = 0 in (_number(style, "height"), _number(style, "max-height"), _number(style, "width"))
    return flat and style.get("overflow") == "hidden"


#: The beginnings of what a program that reads aloud sees alone: rect(0 0 0 0), inset(50%).
_CLIPS = ("rect(0 0", "rect(0,0", "rect(0, ", "rect(0px", "rect(1px", "inset(50", "inset(10")


def _number(style: _Style, name: str) -> float:
    found = re.match(r"-?\d*\.?\d+", style.get(name, ""))
    return float(found[0]) if found else 1.0


def _colour(text: str) -> str:
    """Return a colour as three digits, "clear" for none; what is not known as it is."""
    numbers = re.findall(r"[\d.]+", text) if text.startswith("rgb") else []
    if len(numbers) > 2:
        digits = "".join(f"{int(float(number)) // 16:x}" for number in numbers[:3])
        return "clear" if numbers[3:] == ["0"] else digits
    if text.startswith("#"):
        return text[1:4] if len(text) < 7 else text[1:7:2]
    return {"white": "fff", "black": "000", "transparent": "clear"}.get(text, text)


# --- Styles ---


def _styles(page: BeautifulSoup) -> dict[int, dict[str, str]]:
    """Return what the page's styles say of its tags, by the tag's identity."""
    said: list[tuple[Any, int, str, str]] = []
    by_key = defaultdict(list)
    for tag in page.find_all(True):
        by_key[tag.name].append(tag)
        for name, value in tag.attrs.items():
            if name in ("id", "class"):
                for each in [value] if isinstance(value, str) else value:
                    by_key[_MARKS[name] + each].append(tag)
            elif name in ("color", "bgcolor"):
                name = name.replace("bg", "background-")
                said.append(((False, -1), id(tag), name, str(value).lower()))
            elif name == "style":
                said += [((d[0], 2), id(tag), *d[1:]) for d in _declared(str(value))]
    compared = 0
    for order, (selectors, declared) in enumerate(_rules(by_key["style"])):
        for selector in () if len(selectors) > _LONGEST else re.split(r",(?![^(]*\))", selectors):
            key = _KEY.search(selector)
            among = by_key[key[1] + key[2]] if key else ()
            compared += len(among)
            try:
                matcher = page.css.compile(selector.strip())
            except (SelectorSyntaxError, NotImplementedError):
                continue  # a part that is no tag, as ::before
            kinds = [found.lastgroup for found in _SPECIFIC.finditer(selector)]
            rank = [kinds.count(kind) for kind in ("id", "part", "name")]
            for tag in among if compared < _MOST_COMPARED else ():
                if matcher.match(tag):
                    said += [((d[0], 1, rank, order), id(tag), *d[1:]) for d in _declared(declared)]
    styles: dict[int, dict[str, str]] = defaultdict(dict)
    for _, identity, name, value in sorted(said, key=itemgetter(0)):
        styles[identity][name] = value
    return styles


def _declared(text: str) -> list[tuple[bool, str, str]]:
    """Return whether each declaration of a style is important, its name and its value."""
    pairs = (each.lower().split(":", 1) for each in text.split(";") if ":" in each)
    return [("!important" in v, k.strip(), v.partition("!")[0].strip()) for k, v in pairs]


def _rules(sheets: list[Tag]) -> Iterator[tuple[str, str]]:
    """Yield the selectors and declarations of the styles that hold on a screen."""
    for sheet in sheets:
        texts = re.split(r"([{}])", _COMMENT.sub("", sheet.get_text()))
        within = [f"@media {sheet.get('media') or 'all'}"]
        marks = ["", *texts[1::2], ""]
        for before, text, mark in zip(marks, texts[::2], marks[1:], strict=False):
            if mark == "{":
                within.append(text.rpartition(";")[2].strip())
            elif mark == "}" and len(within) > 1:
                selectors = within.pop()
                if before == "{" and selectors[:1] != "@" and all(map(_holds, within)):
                    yield selectors, text


def _holds(condition: str) -> bool:
    """Return whether the rules in a block hold on a screen of usual width."""
    if not condition.startswith(("@media", "@supports", "@layer")):
        return False
    limits = _WIDTH.findall(condition)
    fits = all((int(px) <= _WINDOW) == (side == "min") for side, px in limits)
    return fits and not re.search(r"\bprint\b|\bspeech\b|: *dark\b|\bnot\b", condition)
