"""Parse HTML into a tree, in time linear in its length whatever is left open in it."""

from collections import Counter
from typing import Any

from bs4 import BeautifulSoup
from bs4.builder._htmlparser import BeautifulSoupHTMLParser, HTMLParserTreeBuilder

#: Tags in one another at most; more are beside each other, as in browsers, which keep 512.
_DEEPEST = 256


def page_tree(markup: str) -> BeautifulSoup:
    """Return the tree of a page; raises ParserRejectedMarkup for what is none.

    A tag or comment that is never closed ends with the page and is not shown, as in browsers.
    Python's own parser before 3.13.6 seeks the end of each of them in all of the page again.
    """
    return BeautifulSoup(markup, builder=_Builder())


class _Closed(Counter[str]):
    """The tags without contents that may still be closed: a list that counts."""

    def append(self, name: str) -> None:
        self[name] += 1

    def remove(self, name: str) -> None:
        self[name] -= 1

    def __contains__(self, name: object) -> bool:
        return self.get(name, 0) > 0  # type: ignore[call-overload, no-any-return]


class _Parser(BeautifulSoupHTMLParser):
    """All of a page is given at once: what has no end in it has none."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.already_closed_empty_element: Any = _Closed()

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
