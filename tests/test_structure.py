"""The shape of the package: imports point one way, modules stay small, `--help` stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

_PACKAGE = Path(str(resources.files("kgp_neo4j")))
#: Folders and modules of the package; each may import from those before it, and from its own line.
_ORDER = (
    {"errors"},
    {"language", "readings", "structures", "triples", "values"},
    {"words", "printable"},
    {"settings", "configuration", "records", "views", "queries", "progress", "cypher"},
    {"database", "server", "models"},
    {"installation", "procedures"},
    {"load"},
    {"connect"},
    {"seed"},
    {"traverse"},
    {"evidence", "structure"},
    {"answer"},
    {"evaluate"},
    {"train"},
    {"api", "demo", "knowledge_graph", "opened"},
    {"integrations"},
    {"cli"},
    {"reference"},
)
_HEAVY = ("torch", "transformers", "sentence_transformers", "sklearn", "pandas", "numpy", "neo4j")


def _modules() -> Iterator[tuple[str, Path]]:
    """Yield each module's place in the order and its file; the package's own __init__ has none."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        first = path.relative_to(_PACKAGE).parts[0].removesuffix(".py")
        if first != "__init__":
            yield first, path


def _imported(path: Path) -> Iterator[tuple[str, int]]:
    """Yield what a file imports, inside functions too, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            assert node.module
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from ((name, node.lineno) for name in names)


def test_every_module_has_a_place_in_the_order() -> None:
    known = set().union(*_ORDER)
    assert {first for first, _ in _modules()} <= known


def test_imports_point_one_way() -> None:
    level = {name: at for at, names in enumerate(_ORDER) for name in names}
    wrong = []
    for first, path in _modules():
        for name, line in _imported(path):
            parts = name.split(".")
            if parts[0] != "kgp_neo4j" or parts[1] == first:
                continue
            if level.get(parts[1], len(_ORDER)) > level[first]:
                wrong.append(f"{path.relative_to(_PACKAGE)}:{line} imports {name}")
    assert wrong == []


def test_only_the_database_module_imports_the_driver() -> None:
    importers = {
        path.relative_to(_PACKAGE).as_posix()
        for _, path in _modules()
        for name, _ in _imported(path)
        if name.split(".")[0] == "neo4j"
    }
    assert importers == {"database.py"}


def test_no_python_file_holds_cypher() -> None:
    words = ("MATCH (", "MERGE (", "UNWIND ", "CREATE (", "DETACH DELETE")
    found = [
        f"{path.relative_to(_PACKAGE)}:{node.lineno}"
        for _, path in _modules()
        if path.name != "queries.py"  # its docstring shows what a file looks like
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and any(word in node.value for word in words)
    ]
    assert found == []


def test_modules_stay_small() -> None:
    sizes = {
        path.relative_to(_PACKAGE).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for _, path in _modules()
    }
    assert {name: size for name, size in sizes.items() if size >= 320} == {}


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
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "Usage: " in done.stdout
