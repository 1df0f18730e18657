"""`kgp-neo4j licences`: list what is installed, with its licences."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from kgp_neo4j.cli._output import echo_json, json_option, write_file

_EPILOG = """
\b
Examples:
  kgp-neo4j licences
  kgp-neo4j licences --sbom kgp-neo4j.cdx.json
"""


@click.command("licences", epilog=_EPILOG)
@click.option(
    "--sbom",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write it as a bill of materials (CycloneDX 1.6) for scanners.",
)
@json_option
def command(sbom: Path | None, as_json: bool) -> None:
    """List the packages, the embedded server's jars and the encoders, with their licences."""
    from kgp_neo4j.integrations.sbom import describe_sbom, installed_parts
    from kgp_neo4j.types.json_records import to_json

    parts = installed_parts()
    if sbom is not None:
        write_file(sbom, to_json(describe_sbom(parts), indent=2) + "\n")
        click.echo(f"{len(parts)} parts written to {sbom}", err=as_json)
    if as_json:
        echo_json([asdict(part) for part in parts])
    elif sbom is None:
        wide = max(len(f"{part.name} {part.version}") for part in parts)
        for part in parts:
            name = f"{part.name} {part.version}"
            click.echo(f"{part.kind:<8} {name:<{wide}}  {part.licence or 'not stated'}")
