"""Writes `neo4j.lock` from `neo4j.toml`: `python .ci/lock_jars.py`.

jgo resolves the coordinates as Maven does and fetches each jar once; its SHA-256 is what later
installations are checked against. Takes about four minutes.
"""

from __future__ import annotations

import tempfile
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click

from kgp_neo4j.graphdb.server.artifacts import sha256_of
from kgp_neo4j.graphdb.server.fetch import repositories

_HERE = Path(__file__).parents[1] / "kgp_neo4j" / "graphdb" / "server"
_HEADER = """\
# Every jar of the embedded database, made from neo4j.toml; do not edit by hand:
# python .ci/lock_jars.py
"""


def _is_plugin(group: str, name: str, jar: Path) -> bool:
    """Return whether the jar has procedures: only such jars should be scanned at every start."""
    if group == "org.neo4j.procedure":
        return name != "apoc-common"
    if group != "org.neo4j.gds":
        return False
    with zipfile.ZipFile(jar) as archive:
        names = archive.namelist()
    return any(entry.startswith("META-INF/services/org.neo4j.procedure.") for entry in names)


def _resolve(wanted: dict[str, Any], cache: Path) -> list[Any]:
    """Return jgo's artifacts of all groups, each library once."""
    from jgo.maven import MavenContext

    context = MavenContext(repo_cache=cache, remote_repos=repositories(), timeout=60)
    excluded = set(wanted["exclude"]["artifacts"])
    chosen: dict[tuple[str, str, str], Any] = {}
    for group in wanted["group"]:
        coordinates = [c.format(**wanted["versions"]) for c in group["coordinates"]]
        click.echo(f"Resolving {group['name']}: {', '.join(coordinates)}")
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
    role = "plugin" if _is_plugin(artifact.groupId, artifact.artifactId, jar) else "lib"
    return coordinate, role, jar.stat().st_size, sha256_of(jar)


@click.command()
@click.option("--cache", type=click.Path(path_type=Path), help="Keep what is fetched here.")
def main(cache: Path | None) -> None:
    """Resolve neo4j.toml and write neo4j.lock beside it."""
    wanted = tomllib.loads((_HERE / "neo4j.toml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        artifacts = _resolve(wanted, cache or Path(scratch))
        click.echo(f"Fetching {len(artifacts)} jars")
        with ThreadPoolExecutor(8) as pool:
            entries = sorted(pool.map(_entry, artifacts))
    lines = [_HEADER, "[versions]"]
    lines += [f'{name} = "{version}"' for name, version in wanted["versions"].items()]
    for coordinate, role, size, digest in entries:
        lines += ["", "[[artifact]]", f'coordinate = "{coordinate}"', f'role = "{role}"']
        lines += [f"size = {size}", f'sha256 = "{digest}"']
    (_HERE / "neo4j.lock").write_text("\n".join(lines) + "\n", encoding="utf-8")
    total = sum(size for _, _, size, _ in entries)
    click.echo(f"Wrote neo4j.lock: {len(entries)} jars, {total / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
