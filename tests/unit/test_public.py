"""The public surface: complete, sorted, documented."""

import ast
import dataclasses
import inspect
import typing
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import kgp_neo4j

_PACKAGE = Path(str(resources.files("kgp_neo4j")))
_PUBLIC = {name: getattr(kgp_neo4j, name) for name in kgp_neo4j.__all__}


def test_all_is_sorted_and_every_name_is_there() -> None:
    assert kgp_neo4j.__all__ == sorted(kgp_neo4j.__all__)
    assert dir(kgp_neo4j) == kgp_neo4j.__all__
    for name, value in _PUBLIC.items():
        assert value.__name__ == name


def test_what_public_names_return_and_hold_is_a_type_that_can_be_imported() -> None:
    """Nobody has to reach into a stage to annotate what they were given."""
    missing = {
        f"{kind.__module__}.{kind.__name__}, from {name}"
        for name, value in _PUBLIC.items()
        for hint in _hints(value)
        for kind in _kinds(hint)
        if kind.__module__.startswith("kgp_neo4j.")
        and not kind.__module__.startswith("kgp_neo4j.types.")
        and kind.__name__ not in _PUBLIC
    }
    assert missing == set()


def _hints(value: Any) -> list[Any]:
    """Return the types of a dataclass's fields and of what public functions return."""
    if dataclasses.is_dataclass(value):
        return [typing.get_type_hints(value)[f.name] for f in dataclasses.fields(value)]
    functions = [value]
    if inspect.isclass(value):
        functions = [f for n, f in inspect.getmembers(value, inspect.isfunction) if n[0] != "_"]
    # Types of an extra are imported only by the type checker.
    extras = {"Graph": object, "GraphDataScience": object}
    return [typing.get_type_hints(f, localns=extras).get("return") for f in functions]


def _kinds(hint: Any) -> list[type]:
    inner = [kind for part in typing.get_args(hint) for kind in _kinds(part)]
    return [*inner, hint] if inspect.isclass(hint) and hasattr(hint, "__module__") else inner


def test_every_public_docstring_begins_with_one_sentence() -> None:
    wrong = []
    for path in sorted(_PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and not _is_public(node, tree):
                continue
            if isinstance(node, ast.ClassDef) and node.name.startswith("_"):
                continue
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                where = f"{path.relative_to(_PACKAGE)}:{getattr(node, 'lineno', 1)}"
                text = ast.get_docstring(node)
                if not text:
                    wrong.append(f"{where} has no docstring")
                elif text.split("\n\n")[0].rstrip()[-1] not in ".:":
                    wrong.append(f"{where} {text.splitlines()[0]!r}")
    assert wrong == []


def _is_public(function: ast.FunctionDef, tree: ast.Module) -> bool:
    """Say whether a function stands in `__all__`, or is a public method of a public class."""
    if function.name.startswith("_"):
        return False
    if function in tree.body:
        return True
    return any(
        isinstance(node, ast.ClassDef) and not node.name.startswith("_") and function in node.body
        for node in tree.body
    )


def test_the_version_is_in_the_changelog() -> None:
    changes = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {metadata.version('kgp-neo4j')}" in changes
