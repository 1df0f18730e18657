"""Every pattern and reader takes time in proportion to its text, whatever the text is."""

import ast
import functools
import importlib
import pkgutil
import re
import types
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import regex
from hostile_runs import COMMON, AnyPattern, filled, hostile_runs, seconds, too_slow

from kgp_neo4j.corpus.answer import check as reply
from kgp_neo4j.corpus.load.formats import read
from kgp_neo4j.corpus.load.pdf.letters import Word
from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.read import parts
from kgp_neo4j.corpus.read.by_sentence import asks_for_an_account, asks_for_an_overview
from kgp_neo4j.corpus.read.identifiers import identifiers_of
from kgp_neo4j.corpus.read.parts import parts_of
from kgp_neo4j.corpus.tables.choose import choose
from kgp_neo4j.corpus.tables.references import read_references
from kgp_neo4j.environment.job import Progress
from kgp_neo4j.mindmap.answer import ask_graph as model
from kgp_neo4j.mindmap.link.name_forms import content_stems, spans
from kgp_neo4j.mindmap.load.rdf import read_rdf
from kgp_neo4j.show.page_pictures import PageLetters
from kgp_neo4j.text.values import date_places

_PACKAGE = Path(str(resources.files("kgp_neo4j")))
_ANCHORED = frozenset(("match", "fullmatch"))
_EVERYWHERE = frozenset(("findall", "finditer", "search", "split", "sub", "subn"))


#: What is used on short texts alone: the characters of these at most, and what sees to it.
_SHORT = {
    # `read_references` reads so much of a question, its words one space apart.
    "kgp_neo4j.corpus.tables.": 1_000,
    # So does `parts_of`; the other patterns of its module are for sentences.
    **{
        f"kgp_neo4j.corpus.read.parts{name}": 1_000
        for name in ": ._ALONE ._BEGINS ._DIFFERENCES ._JOINTS ._LEAD ._NUMBER ._WITHIN".split()
    },
    # So does `identifiers_of`.
    "kgp_neo4j.corpus.read.identifiers": 1_000,
    # Longer values are prose to `typed` and `notations`.
    **dict.fromkeys(
        (
            f"kgp_neo4j.text.values._{name}["
            for name in ("COMMA", "DATES", "DAY_FIRST", "MONTH_FIRST", "PLAIN", "POINT")
        ),
        200,
    ),
    # The end of a selector, and a list of them.
    "kgp_neo4j.corpus.load.page_tree:": 5_000,
    "kgp_neo4j.corpus.load.page_tree._KEY[": 200,
    # The beginning of a number format.
    "kgp_neo4j.corpus.load.sheets": 300,
    # The end of a line of N-Quads.
    "kgp_neo4j.mindmap.load.rdf._GRAPH[": 1_000,
    # Files of the package itself, and of those that are installed.
    "kgp_neo4j.graphdb.server.jars:": 100,
    "kgp_neo4j.graphdb.statements": 1_000,
    "kgp_neo4j.environment.kinds:": 200,
}
#: Seconds for a short text at most, and for a question of 10,000 characters.
_WHILE, _LONG = 0.2, 1.0


@functools.cache
def _modules() -> dict[str, types.ModuleType]:
    found = pkgutil.walk_packages([str(_PACKAGE)], "kgp_neo4j.")
    return {m.name: importlib.import_module(m.name) for m in found if "__main__" not in m.name}


@functools.cache
def _trees() -> dict[str, ast.Module]:
    return {
        name: ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for name, module in _modules().items()
    }


def _held(value: Any, of_class: bool = True) -> Iterator[AnyPattern]:
    """Yield the patterns in a value of a module: in what it holds, in the attributes of a class."""
    if isinstance(value, re.Pattern | regex.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _held([*value.keys(), *value.values()], False)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _held(each, False)
    elif of_class and isinstance(value, type) and value.__module__.startswith("kgp_neo4j"):
        yield from _held(list(vars(value).values()), False)


@functools.cache
def _uses() -> dict[str, set[str]]:
    """Return which methods of a pattern are used on each name; those with "_" by their module."""
    uses = defaultdict[str, set[str]](set)
    for module, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in _ANCHORED | _EVERYWHERE:
                of = node.value
                name = of.id if isinstance(of, ast.Name) else getattr(of, "attr", "")
                uses[f"{module}.{name}" if name.startswith("_") else name].add(node.attr)
    return uses


def _written_in_calls(name: str) -> Iterator[tuple[int, str, AnyPattern | None]]:
    """Yield line, method and pattern of each call as in `re.sub("a", ...)`; None: not known."""
    values = vars(_modules()[name])
    for node in ast.walk(_trees()[name]):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        of, method = node.func.value, node.func.attr
        if not (isinstance(of, ast.Name) and of.id in ("re", "regex")):
            continue
        if method not in _ANCHORED | _EVERYWHERE | {"compile"}:
            continue
        given = [each.value for each in node.keywords if each.arg == "flags"]
        given += node.args[{"sub": 4, "subn": 4, "compile": 1, "split": 3}.get(method, 2) :][:1]
        try:
            pattern, *flags = (
                eval(compile(ast.Expression(each), name, "eval"), values)
                for each in (node.args[0], *given)
            )
        except NameError:
            yield node.lineno, method, None
        else:
            yield node.lineno, method, values[of.id].compile(pattern, *flags)


@functools.cache
def _patterns() -> dict[str, tuple[AnyPattern, frozenset[str]]]:
    """Return each pattern of the package and the methods it is used with, by where it is."""
    found: dict[str, tuple[AnyPattern, frozenset[str]]] = {}
    known = set()
    for module in _modules():
        for name, value in list(vars(_modules()[module]).items()):
            for number, pattern in enumerate(_held(value)):
                if pattern not in known:
                    known.add(pattern)
                    found[f"{module}.{name}[{number}]"] = (
                        pattern,
                        frozenset(_uses()[f"{module}.{name}" if name.startswith("_") else name]),
                    )
        for line, method, pattern in _written_in_calls(module):
            if pattern is not None and pattern not in known:
                found[f"{module}:{line}"] = pattern, frozenset((method,))
    return found


def _search(pattern: AnyPattern, methods: frozenset[str]) -> Callable[[str], Any]:
    """Return what looks for a pattern the way the package does."""
    is_bytes = isinstance(pattern.pattern, bytes)

    def find(text: str) -> None:
        given = text.encode("latin-1", "replace") if is_bytes else text
        if methods and methods <= {"match"}:
            pattern.match(given)
        elif methods and methods <= _ANCHORED:
            pattern.fullmatch(given)
            pattern.match(given) if "match" in methods else None
        else:
            for _ in pattern.finditer(given):
                pass

    return find


def _growth(name: str, pattern: AnyPattern, methods: frozenset[str]) -> str | None:
    """Return the first text whose time grows faster than it, else None."""
    find = _search(pattern, methods)
    limit = next((size for begins, size in _SHORT.items() if name.startswith(begins)), None)
    for begin, run, end in hostile_runs(pattern):
        made = functools.partial(filled, begin, run, end)
        if limit is None:
            told = too_slow(find, made)
        else:
            text = " ".join(made(limit)[:limit].split())
            search = functools.partial(find, text)
            took = seconds(search)
            took = min(took, seconds(search, 3)) if took > _WHILE else took
            told = f"{len(text):,} characters {took:.4f} s" if took > _WHILE else None
        if told:
            return f"{begin!r} {run!r}* {end!r}: {told}"
    return None


@pytest.mark.parametrize("part", range(8))
def test_the_time_of_every_pattern_grows_with_its_text(part: int) -> None:
    slow = {
        f"{name} {pattern.pattern[:80]!r}": told
        for name, (pattern, methods) in list(_patterns().items())[part::8]
        if (told := _growth(name, pattern, methods))
    }
    assert slow == {}


#: What opens something that may never be closed, in each format; a mail's page, and its lines.
_OPENED = {
    "html": (
        *("<!--", "<a ", '<a "', "<span style='", "<![CDATA[", "<?", "<!", "</a", "&#", "<div>"),
        *("<table>", "<table><tr><td>", "<ol reversed><li>", "<select><option>", "<sup>2", "<b>"),
        *("<style>a{}</style><a>", "<br></x>", "<title>", "<svg><title>", "<h1>", "<pre>a"),
        *("<blockquote>a</blockquote>", "<blockquote>", "<b>From:</b>", "<p>a"),
    ),
    "md": (
        *("> ", "- ", "# ", "[a](", "![", "| a ", "|-|\n", "`", "**a", "[a]: b\n", "<a", "---\n"),
        *("title: >a ", "  - a\n"),
    ),
    "adoc": ("= ", "== a ==  ", "----\n", "|===\n"),
    "rst": ("=\n", "a\n=\n", ".. a::\n", "`a`_ "),
    "csv": ('"', '""', '",', "a,b\n", ";", '"a\n', "sep="),
    "json": ("[", '{"a":', '"a",', '{"a":1},'),
    "jsonl": ('{"a":1}\n', "[\n", '{"a":"b"}\n'),
    "txt": ("= ", "a.\n\n", "----\n"),
    "eml": (
        *("> ", ">", "--a\n", "On Monday a@b wrote:\n> a\n", "From: a\nSent: 1 May 2020\n"),
        *("-----Original Message-----\n", "\nFrom: a"),
    ),
}
_HEAD = "From: a@b.c\nTo: b@c.d\nSubject: x\nContent-Type: text/{}\n\n"


@pytest.mark.parametrize("kind", [*_OPENED, "mail in HTML"])
def test_the_time_of_every_reader_grows_with_its_file(kind: str, tmp_path: Path) -> None:
    name, head = kind, ""
    if kind in ("eml", "mail in HTML"):
        name, head = "eml", _HEAD.format("plain" if kind == "eml" else "html")
    path = tmp_path / f"a.{name}"

    def load(text: str) -> None:
        path.write_text(head + text, encoding="utf-8")
        for _ in read(path):
            pass

    # The page of a mail is read as others are, but for what is quoted in it.
    opened = _OPENED.get(kind, ("<b>", "<blockquote>", "<blockquote>a</blockquote>"))
    grown = {
        run: too_slow(load, functools.partial(filled, "", run, ""), 10_000, 0.2, 1e-3)
        for run in dict.fromkeys((*opened, *'.,-"([{<=*|\n a1中'))
    }
    assert {run: told for run, told in grown.items() if told} == {}


def test_the_time_of_rdf_grows_with_its_nameless_nodes(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"

    def load(text: str) -> None:
        path.write_text(text)
        for _ in read_rdf([path], Progress()):
            pass

    made = functools.partial(filled, "@prefix e: <http://e/> .\n", '[] e:p "v" .\n', "")
    assert too_slow(load, made, 30_000, 0.2, 1e-4) is None


@pytest.mark.parametrize("header", ["From", "Subject", "Content-Type"])
def test_the_headers_of_a_mail_are_read_at_once(header: str, tmp_path: Path) -> None:
    for run in ("a ", "<a@b>, ", '"a" ', "=?utf-8?q?a?= ", "(", "; a=b"):
        path = tmp_path / "a.eml"
        long = run * (200_000 // len(run))
        path.write_text(f"Message-ID: <a@b>\n{header}: {long}\n\nThe mill.", encoding="utf-8")
        # Threads of other tests count, too, so that the quicker of two readings is taken.
        took = seconds(lambda path=path: [*read(path)], 2)  # type: ignore[misc]
        assert took < 5 * _LONG


_SOUGHT = [
    *identifiers_of("What changed in version 3.1 of site 27?"),
    *identifiers_of("What does Hanna Keller do on 3 May 2021 in 17B and in KX-104?"),
]


def _seek(text: str) -> None:
    """Look for identifiers of questions as in a passage."""
    for each in _SOUGHT:
        each.has(f"site number{text}")
        if each.others:
            each.others.search(f"site number{text}")


_READ_OF_A_QUESTION: dict[str, Callable[[str], Any]] = {
    "identifiers": identifiers_of,
    "identifiers of others": _seek,
    "parts": parts_of,
    "a yes or a no": lambda text: parts._ASKS_LIMIT.search(text),
    "why and how": asks_for_an_account,
    "overview": asks_for_an_overview,
    "pages and tables": lambda text: choose(read_references(text, [])),
    "dates": date_places,
    "words of names": lambda text: [*spans(text)],
    "stems": content_stems,
    "sentences": lambda text: [*sentences(text)],
    "a reply": lambda text: reply.parse_reply(text, "short"),
    "a map": model.parse_reply,
}


@pytest.mark.parametrize("name", _READ_OF_A_QUESTION)
def test_a_question_of_marks_is_read_at_once(name: str) -> None:
    call = _READ_OF_A_QUESTION[name]
    runs = (
        "Paris ",
        "the 10th and ",
        "page 1, ",
        "is ",
        "who is A and ",
        "17B ",
        "中文，",
        "[1†a, ",
    )
    slow = {}
    for run in (*COMMON, *runs):
        text = f"a{run * (9998 // len(run))}b"
        if (spent := seconds(functools.partial(call, text))) > _LONG:
            spent = seconds(functools.partial(call, text), 2)
        if spent > _LONG:
            slow[run] = spent
    assert slow == {}


def test_short_words_are_sought_on_a_page_among_few_places() -> None:
    boxes = [(10 * (at % 60), 12 * (at // 60)) for at in range(6_000)]
    letters = [Word("e", x, y, x + 8, y + 10, size=10) for x, y in boxes]
    page = PageLetters(600, 1200, letters)
    near = page.places("e")

    def locate() -> None:
        for _ in range(100):
            page.locate("e", near)

    assert seconds(locate, 2) < 100 * _LONG / 10
