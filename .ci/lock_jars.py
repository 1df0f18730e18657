"""Writes `neo4j-LINE.lock` for each line of `neo4j.toml`: `python .ci/lock_jars.py`.

jgo resolves the coordinates as Maven does and fetches each jar once; its SHA-256 is what later
installations are checked against. Takes about four minutes a line.
"""

from __future__ import annotations

import tempfile
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click

from kgp_neo4j.graphdb.server.jars import repository, sha256_of

_HERE = Path(__file__).parents[1] / "kgp_neo4j" / "graphdb" / "server"
_HEADER = """\
# Every jar of the embedded database, made from neo4j.toml; do not edit by hand:
# python .ci/lock_jars.py
# coordinate, role, bytes, SHA-256
"""


def _is_plugin(group: str, jar: Path) -> bool:
    """Return whether the jar has procedures: only such jars should be scanned at every start."""
    if group != "org.neo4j.gds":
        return False
    with zipfile.ZipFile(jar) as archive:
        names = archive.namelist()
    return any(entry.startswith("META-INF/services/org.neo4j.procedure.") for entry in names)


def _resolve(groups: dict[str, list[str]], excluded: list[str], cache: Path) -> list[Any]:
    """Return jgo's artifacts of all groups, each library once."""
    from jgo.maven import MavenContext

    context = MavenContext(repo_cache=cache, remote_repos={"maven": repository()}, timeout=60)
    chosen: dict[tuple[str, str, str], Any] = {}
    for name, coordinates in groups.items():
        click.echo(f"Resolving {name}: {', '.join(coordinates)}")
        roots, others = context.resolver.resolve(
            [context.create_dependency(c) for c in coordinates]
        )
        for dependency in [*roots, *others]:
            artifact = dependency.artifact
            if (
                artifact.packaging != "jar"
                or f"{artifact.groupId}:{artifact.artifactId}" in excluded
            ):
                continue
            if dependency.scope in ("compile", "runtime", None):
                key = (artifact.groupId, artifact.artifactId, artifact.classifier)
                chosen.setdefault(key, artifact)
    return list(chosen.values())


def _entry(artifact: Any) -> tuple[str, str, int, str]:
    jar = artifact.resolve()
    coordinate = f"{artifact.groupId}:{artifact.artifactId}:{artifact.version}"
    if artifact.classifier:
        coordinate += f":{artifact.classifier}"
    role = "plugin" if _is_plugin(artifact.groupId, jar) else "lib"
    return coordinate, role, jar.stat().st_size, sha256_of(jar)


@click.command()
@click.option("--cache", type=click.Path(path_type=Path), help="Keep what is fetched here.")
def main(cache: Path | None) -> None:
    """Resolve neo4j.toml and write the lock files beside it."""
    wanted = tomllib.loads((_HERE / "neo4j.toml").read_text(encoding="utf-8"))
    excluded = wanted.pop("exclude")
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(8) as pool:
        for line, groups in wanted.items():
            artifacts = _resolve(groups, excluded, cache or Path(scratch))
            click.echo(f"Fetching {len(artifacts)} jars")
            entries = sorted(pool.map(_entry, artifacts))
            text = "".join(" ".join(map(str, entry)) + "\n" for entry in entries)
            (_HERE / f"neo4j-{line}.lock").write_text(_HEADER + text, encoding="utf-8")
            total = sum(size for _, _, size, _ in entries)
            click.echo(f"Wrote neo4j-{line}.lock: {len(entries)} jars, {total / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
