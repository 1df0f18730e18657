"""Builds the plugin from the headers of `cypher/procedures/`: `python plugin/build_plugin.py`.

Writes `Procedures.java` beside this file, compiles it by the Eclipse compiler, which runs on the
embedded server's Java, against the procedure API of Neo4j 5.26, and packs it with the statements as
resources. The same statements give the same bytes: nothing in the jar is compressed or dated.
"""

import json
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import click
from jinja2 import Environment, FileSystemLoader

from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.plugin import JAR, plugin_jar
from kgp_neo4j.graphdb.server.jars import DEFAULT, LINES, Artifact, fetch, load_lock, sha256_of
from kgp_neo4j.graphdb.server.startup import find_java
from kgp_neo4j.graphdb.statements import LANGUAGE, Parameter, Statement, fingerprint, folder
from kgp_neo4j.types.errors import ServerError

_HERE = Path(__file__).parent
_COMPILER = Artifact(
    "org.eclipse.jdt:ecj:3.42.0",
    "lib",
    3327035,
    "29f6d3918ee02db4400c103bc25dd90a22491c3a395867d9393070cb96a7dd29",
)
_TYPES = {
    "ANY": "Object", "BOOLEAN": "Boolean", "FLOAT": "Double", "INT": "Long",
    "MAP": "Map<String, Object>", "NODE": "Node", "RELATIONSHIP": "Relationship",
    "STRING": "String",
}  # fmt: skip


def java_source() -> str:
    """Return the class with one method for each header of `cypher/procedures/`."""
    templates = Environment(loader=FileSystemLoader(_HERE), keep_trailing_newline=True)
    templates.filters["literal"] = json.dumps
    return templates.get_template("Procedures.java.jinja").render(
        procedures=[_procedure(query) for query in folder("procedures")],
        fingerprint=fingerprint("procedures"),
    )


def _method(query: Statement) -> str:
    return query.name.removeprefix("kgp.")


def _procedure(query: Statement) -> dict[str, Any]:
    method = _method(query)
    return {
        "name": f"custom.{query.name}",
        "method": method,
        "row": f"{method[0].upper()}{method[1:]}Row",
        "mode": query.mode,
        "description": query.documentation,
        "inputs": [
            {"name": one.name, "java": _java(one), "default": one.default} for one in query.inputs
        ],
        "outputs": [
            {"name": one.name, "java": _java(one), "cast": _cast(one)} for one in query.outputs
        ],
    }


def _java(parameter: Parameter) -> str:
    kind = parameter.type.removeprefix("LIST OF ")
    return _TYPES[kind] if kind == parameter.type else f"List<{_TYPES[kind]}>"


def _cast(column: Parameter) -> str:
    value = f'row.get("{column.name}")'
    if column.type.startswith("LIST OF "):
        return f"Statements.asList({value})"
    if column.type == "FLOAT":
        return f"Statements.asFloat({value})"
    return value if column.type == "ANY" else f"({_java(column)}) {value}"


def build(target: Path, source: str) -> None:
    """Write the jar of a class and the statements' texts into the folder `target`."""
    maven = Folders.from_environment().cache / "maven"
    apis = [jar for jar in load_lock().artifacts if jar.path.name.startswith("neo4j-")]
    needed = [jar for jar in [_COMPILER, *apis] if not (maven / jar.path).is_file()]
    if needed:
        fetch(needed, maven, "the compiler", click.echo)
    with tempfile.TemporaryDirectory() as scratch:
        folder_ = Path(scratch)
        (folder_ / "Procedures.java").write_text(source, encoding="utf-8")
        (folder_ / "Statements.java").write_bytes((_HERE / "Statements.java").read_bytes())
        java = find_java(LINES[DEFAULT])
        command = [str(java.command), "-jar", str(maven / _COMPILER.path), "-17", "-nowarn"]
        command += ["-encoding", "UTF-8", "-proc:none", "-g:lines", "-d", str(folder_ / "out")]
        command += ["-cp", os.pathsep.join(str(maven / jar.path) for jar in apis)]
        command += [str(folder_ / name) for name in ("Procedures.java", "Statements.java")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ServerError(
                f"the plugin does not compile: {done.stdout}{done.stderr}",
                where="Procedures.java",
                hint="Bring the headers of cypher/procedures/ and the template together.",
            )
        entries = {
            file.relative_to(folder_ / "out").as_posix(): file.read_bytes()
            for file in (folder_ / "out").rglob("*.class")
        }
    for query in folder("procedures"):
        for name, text in ((_method(query), query.text), (f"{_method(query)}.check", query.check)):
            if text:
                entries[f"kgp/{name}.cypher"] = f"{LANGUAGE}{text}\n".encode()
    with zipfile.ZipFile(target / JAR, "w", zipfile.ZIP_STORED) as jar:
        for name in sorted(entries):
            # Dated 1980: the jar says nothing of the day it was made on.
            jar.writestr(zipfile.ZipInfo(name), entries[name])


def main() -> None:
    """Write the source beside this file, jar and checksum into the package."""
    source, jar = java_source(), plugin_jar()
    (_HERE / "Procedures.java").write_text(source, encoding="utf-8")
    build(jar.parent, source)
    digest = sha256_of(jar)
    jar.with_name(f"{JAR}.sha256").write_text(f"{digest}  {JAR}\n", encoding="utf-8")
    click.echo(f"{JAR}: {jar.stat().st_size:,} bytes, SHA-256 {digest}")


if __name__ == "__main__":
    main()
