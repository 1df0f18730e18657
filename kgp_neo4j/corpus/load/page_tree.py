"""Parse HTML into a tree, without what its reader cannot see by its own styles and attributes."""

import re
from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterator, Mapping
from functools import cache, lru_cache, partial
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from bs4 import BeautifulSoup
from bs4.builder._htmlparser import BeautifulSoupHTMLParser, HTMLParserTreeBuilder
from bs4.element import NavigableString, Tag
from soupsieve import SelectorSyntaxError

from kgp_neo4j.text.safe import is_visible

#: Tags whose contents a browser that runs scripts, plays and draws does not show.
_UNSHOWN = frozenset(
    "annotation audio canvas datalist iframe noembed noframes noscript template video".split()
)
_FILLS = ("background-image", "background-color", "background")
_INHERITED = ("color", "font-size", "visibility")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
#: The id, class or name in the last part of a selector; what makes a selector more specific.
_KEY = re.compile(r"([.#]?)((?:[\w-]|\\.)+)[^\s>+~]*$")
_BESIDE = re.compile(r"~|:(?:first|last|nth|only)")
_SPECIFIC = re.compile(r"(?P<id>#)|(?P<part>[.\[]|:(?!:))|(?P<name>(?<![\w.#:\[-])[a-z])")
#: What moves a text far out of the window, and what cuts all of it off. Margins and indents centre
#: what is wide, let parts overlap and hang first lines: they hide from half of the window on.
_AWAY = re.compile(
    r"^(?:left|top):-\d{3,}|^(?:margin-left|margin-top|text-indent):-(?:[7-9]\d\d|\d{4}|\d{3}r?em)"
    r"|clip:rect\((?:[01](?:px)?,? ?){4}\)|path:inset\((?:50|100)%"
)
_WIDTH = re.compile(r"(?<![\w-])(?:(min-)|max-)?width\s*(?:(>)|[:<])=?\s*(\d+)")
#: The width of a window; tags compared with selectors, the longest selector, tags around a tag.
_WINDOW, _MOST_COMPARED, _LONGEST, _DEEP = 1280, 100_000, 5_000, 32
#: Characters at the end of a selector in which its key is sought.
_KEY_SEEN = 200
_COLOURS = {"white": "fff", "black": "000", "transparent": "clear", "none": "clear"}

#: Tags that begin a paragraph; and those whose end is left out, with the tags that end them.
PARAGRAPHS = frozenset(
    "address article aside blockquote body details div dl fieldset figure footer form h1 h2 h3 h4 "
    "h5 h6 header hr main nav ol p pre section table ul".split()
)
_ROWS, _TERMS = ("tr", "tbody", "tfoot"), ("dd", "dt")
_ENDED_BY = {"p": PARAGRAPHS, "li": ("li",), "tr": _ROWS, "dd": _TERMS, "dt": _TERMS}
_ENDED_BY |= {"td": ("td", "th", *_ROWS), "th": ("td", "th", *_ROWS)}

_Style: TypeAlias = Mapping[str, str]


class _State(NamedTuple):
    """What holds for the text within a tag: `behind` is the colour of the background, `part` the
    identity of the outermost hidden tag, 0 where it is seen, `around` the state around the tag.
    """

    name: str
    style: _Style
    behind: str
    is_gone: bool = False
    part: int = 0
    around: Any = None


def take_out_hidden(page: BeautifulSoup) -> int:
    """Remove what is hidden from a page, and return how many parts with a text that was.

    Only attributes and the page's own styles count. Closed `details`, which a reader opens, stay.
    """
    styles, whole = _styles(page), cache(partial(_whole, page))
    paper = "" if page.find("link", rel="stylesheet") else "fff"
    parts: set[int] = set()
    waiting: list[tuple[Tag, _State]] = [(page, _State("", {}, paper))]
    while waiting:
        tag, state = waiting.pop()
        for child in list(tag.contents):
            if not isinstance(child, Tag):
                if state.part and type(child) is NavigableString:
                    parts.update({state.part} if is_visible(child.extract()) else ())
                continue
            while child.name in _ENDED_BY.get(state.name, ()):
                state = state.around
            inner, own = state, styles.get(id(child), {})
            if (is_gone := _is_gone(child, own, whole)) or own:
                inner = _within(state, child, own, is_gone)
            elif child.name in _ENDED_BY or child.name in PARAGRAPHS:
                inner = state._replace(name=child.name, around=state)
            if inner.is_gone and child.name not in _ENDED_BY:
                parts.update({inner.part} if any(map(is_visible, child.strings)) else ())
                child.decompose()
            else:
                waiting.append((child, inner))
    return len(parts)


def _within(state: _State, tag: Tag, own: _Style, is_gone: bool) -> _State:
    style = {name: own.get(name, state.style.get(name, "")) for name in _INHERITED}
    fills = (_colour(own.get(name, "none")) for name in _FILLS)
    behind = next((fill for fill in fills if fill != "clear"), state.behind)
    if "text" in (own.get("background-clip"), own.get("-webkit-background-clip")):
        style["color"] = ""  # that of what is behind
    is_gone = is_gone or state.is_gone
    is_unseen = is_gone or style["visibility"] in ("hidden", "collapse")
    is_unseen = is_unseen or _colour(style["color"]) in ("clear", behind or "?")
    is_unseen = is_unseen or _is_none(style["font-size"])
    part = (state.part or id(tag)) if is_unseen else 0
    return _State(tag.name, style, behind, is_gone, part, state)


def _whole(page: BeautifulSoup) -> set[int]:
    """Return which tag holds most of a page: scripts show it, and hide it behind open dialogs."""
    body = page.body or page.html or page
    tags = body.find_all(["article", "div", "main", "section"], recursive=False)
    half = len(body.get_text()) / 2
    return {id(tag) for tag in tags if len(tag.get_text()) > half}


def _is_gone(tag: Tag, style: _Style, whole: Callable[[], Container[int]]) -> bool:
    """Return whether a tag is hidden with all that is in it."""
    hidden = tag.get("hidden")
    is_unshown = tag.name in _UNSHOWN and not tag.has_attr("shadowrootmode")
    is_named = tag.name in ("title", "desc") and _within_one(tag, ("svg",))
    is_silent = tag.get("aria-hidden") == "true" and id(tag) not in whole()
    if is_unshown or is_named or is_silent or hidden == "until-found":
        return True
    closed = hidden is not None or (tag.name == "dialog" and not tag.has_attr("open"))
    if not style or tag.name in ("html", "body"):  # which are often hidden until a script has run
        return closed
    is_off = style.get("display", "none" if closed else "") == "none"
    if is_off or any(_AWAY.search(":".join(each)) for each in style.items()):
        return True
    appears = any(name.startswith(("animation", "transition")) for name in style)
    return _is_none(style.get("opacity", "")) and not appears and id(tag) not in whole()


def _within_one(tag: Tag, names: Container[str]) -> bool:
    return any(each.name in names for each in tag.parents)


def _is_none(length: str) -> bool:
    return re.match(r"0(\.0*)?(?![\d.])", length) is not None


@lru_cache(maxsize=1_000)
def _colour(text: str) -> str:
    """Return a colour as three digits, "clear" for none; what is not known as it is."""
    numbers = re.findall(r"[\d.]+", text) if text.startswith("rgb") else []
    if len(numbers) > 2:
        digits = "".join(f"{int(float(number)) // 16:x}" for number in numbers[:3])
        return "clear" if numbers[3:] == ["0"] else digits
    if text.startswith("#"):
        return text[1:4] if len(text) < 7 else text[1:7:2]
    return _COLOURS.get(text, text)


def _styles(page: BeautifulSoup) -> dict[int, dict[str, str]]:
    """Return what the page's styles say of its tags, by the tag's identity."""
    said: list[tuple[Any, int, str, str]] = []
    by_key = defaultdict(list)
    depths = {id(page): 0}
    for tag in page.find_all(True):
        depths[id(tag)] = depths[id(tag.parent)] + 1
        by_key[tag.name].append(tag)
        for name, value in tag.attrs.items():
            if name in ("id", "class"):
                for each in [value] if isinstance(value, str) else value:
                    by_key[("#" if name == "id" else ".") + each].append(tag)
            elif name in ("color", "bgcolor", "background"):
                name = name.replace("bg", "background-")
                said.append(((False, -1), id(tag), name, str(value).lower()))
            elif name == "style":
                said += [((d[0], 2), id(tag), *d[1:]) for d in _declared(str(value))]
    compared = 0
    sizes: dict[str, tuple[int, int]] = {}
    sheets = [sheet for sheet in by_key["style"] if not _within_one(sheet, _UNSHOWN)]
    for order, (selector, declared) in enumerate(_rules(sheets)):
        key = _KEY.search(selector, max(0, len(selector) - _KEY_SEEN))
        name = key[1] + key[2].replace("\\", "") if key else ""
        among = by_key[name]
        if name not in sizes:
            beside = sum(len(tag.parent.contents) for tag in among if tag.parent)
            sizes[name] = sum(1 + depths[id(tag)] // _DEEP for tag in among), beside
        steps, beside = sizes[name]
        if ":has" in selector:
            steps *= len(depths)
        elif _BESIDE.search(selector):
            steps += beside
        if not among or compared + steps > _MOST_COMPARED:
            continue
        compared += steps
        try:
            if name != selector:
                matcher = page.css.compile(selector)
                among = [tag for tag in among if matcher.match(tag)]
        except (SelectorSyntaxError, NotImplementedError):
            continue  # a part that is no tag, as ::before
        kinds = [found.lastgroup for found in _SPECIFIC.finditer(selector)]
        rank = (1, *map(kinds.count, ("id", "part", "name")), order)
        for tag in among:
            said += [((d[0], *rank), id(tag), *d[1:]) for d in _declared(declared)]
    styles: dict[int, dict[str, str]] = defaultdict(dict)
    for _, identity, name, value in sorted(said, key=itemgetter(0)):
        styles[identity][name] = value
    return styles


def _declared(text: str) -> list[tuple[bool, str, str]]:
    """Return whether each declaration of a style is important, its name and its value."""
    pairs = (each.lower().split(":", 1) for each in text.split(";") if ":" in each)
    return [("!important" in v, k.strip(), v.partition("!")[0].strip()) for k, v in pairs]


def _rules(sheets: list[Tag]) -> Iterator[tuple[str, str]]:
    """Yield each selector with the declarations of the styles that hold on a screen."""
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
                    for selector in re.split(r",(?![^(]*\))", selectors[:_LONGEST]):
                        yield selector.strip(), text


def _holds(condition: str) -> bool:
    """Return whether the rules in a block hold on a screen of usual width."""
    if not condition.startswith(("@media", "@supports", "@layer")):
        return False
    limits = _WIDTH.findall(condition)
    fits = all((int(px) <= _WINDOW) == bool(least or over) for least, over, px in limits)
    return fits and not re.search(r"\bprint\b|\bspeech\b|: *dark\b|\bnot\b", condition)


#: Tags in one another at most; more are beside each other, as in browsers, which keep 512.
_DEEPEST = 256


def page_tree(markup: str) -> BeautifulSoup:
    """Return the tree of a page; raises ParserRejectedMarkup for what is none.

    Python's own parser before 3.13.6 seeks the end of each tag left open in all of the page again.
    """
    return BeautifulSoup(markup, builder=_Builder())


class _Parser(BeautifulSoupHTMLParser):
    """All of a page is given at once: what has no end in it has none."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        # Nothing is kept in it, nor sought: what closes a tag without contents again does nothing.
        self.already_closed_empty_element: Any = deque(maxlen=0)

    def _to_end(self, end: int) -> int:
        return end if end >= 0 else len(self.rawdata)

    def parse_starttag(self, i: int) -> int:
        return self._to_end(super().parse_starttag(i))

    def parse_endtag(self, i: int) -> int:
        return self._to_end(super().parse_endtag(i))

    def parse_comment(self, i: int, report: bool = True) -> int:
        return self._to_end(super().parse_comment(i, report))

    def parse_pi(self, i: int) -> int:
        return self._to_end(super().parse_pi(i))

    def parse_html_declaration(self, i: int) -> int:
        return self._to_end(super().parse_html_declaration(i))

    def handle_starttag(self, tag: str, *args: Any, **settings: Any) -> None:
        if len(self.soup.tagStack) > _DEEPEST:
            self.soup.endData()
            self.soup.popTag()
        super().handle_starttag(tag, *args, **settings)


class _Builder(HTMLParserTreeBuilder):
    def feed(self, markup: Any) -> None:  # type: ignore[override]
        super().feed(markup, _Parser)
