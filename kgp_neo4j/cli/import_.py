"""`kgp-neo4j import`: a corpus or a knowledge graph from a file of `export`."""

from pathlib import Path

import click

from kgp_neo4j.cli._output import json_option, opened_database, print_result

_EPILOG = """
\b
Examples:
  kgp-neo4j import mine.kgp
  kgp-neo4j import mine.kgp --replace
"""


@click.command("import", epilog=_EPILOG)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--replace", is_flag=True, help="Delete what has the name now, if the file is good.")
@json_option
def command(file: Path, replace: bool, as_json: bool) -> None:
    """Import a corpus or knowledge graph from a file that `export` wrote.

    The file is checked before anything is written, and what is imported is visible once it is
    whole. If it is interrupted, import again.
    """
    from kgp_neo4j.corpus.load.export_corpus import import_corpus
    from kgp_neo4j.graphdb.export_files import read_manifest
    from kgp_neo4j.mindmap.load.export_graph import import_graph

    read = import_corpus if read_manifest(file).kind == "corpus" else import_graph
    with opened_database() as database:
        done = read(database, file, replace=replace)
    kind = "corpus" if done.kind == "corpus" else "knowledge graph"
    counts = f"{done.nodes:,} nodes and {done.relationships:,} relationships"
    print_result(done, as_json, f"Imported the {kind} {done.name}: {counts}.")
