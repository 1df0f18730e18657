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
from hostile_runs import AnyPattern, filled, hostile_runs, seconds, too_slow

import kgp_neo4j

_PACKAGE = Path(str(resources.files("kgp_neo4j")))
_ANCHORED = frozenset(("match", "fullmatch"))
_EVERYWHERE = frozenset(("findall", "finditer", "search", "split", "sub", "subn"))


#: What is used on short texts alone: the characters of these at most, and what sees to it.
_SHORT = {
    # `read_references` reads so much of a question, its words one space apart.
    "kgp_neo4j.corpus.tables.": 1_000,
    # So does `parts_of`.
    "kgp_neo4j.corpus.read.parts": 1_000,
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
    "kgp_neo4j.corpus.load.hidden:": 5_000,
    "kgp_neo4j.corpus.load.hidden._KEY[": 200,
    # The beginning of a number format.
    "kgp_neo4j.corpus.load.sheets": 300,
    # The end of a line of N-Quads.
    "kgp_neo4j.mindmap.load.rdf._GRAPH[": 1_000,
    # Files of the package itself, and of those that are installed.
    "kgp_neo4j.graphdb.server.browser": 100,
    "kgp_neo4j.environment.extras": 200,
}
#: Seconds for a short text at most.
_WHILE = 0.2


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
    """Yield line, method and pattern of each call as in `re.sub("a", ...)`; None: not known here."""
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
            took = seconds(lambda text=text: find(text))  # type: ignore[misc]
            took = min(took, seconds(lambda text=text: find(text))) if took > _WHILE else took  # type: ignore[misc]
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
