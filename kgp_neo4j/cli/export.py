"""`kgp-neo4j export`: a corpus or a knowledge graph as one file."""

from pathlib import Path

import click

from kgp_neo4j.cli._output import json_option, opened_database, print_result

_EPILOG = """
\b
Examples:
  kgp-neo4j export mine mine.kgp
  kgp-neo4j export mine mine.kgp --overwrite
  kgp-neo4j export medical medical.kgp --graph
"""


@click.command("export", epilog=_EPILOG)
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--graph", is_flag=True, help="NAME is a knowledge graph, not a corpus.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
@json_option
def command(name: str, file: Path, graph: bool, overwrite: bool, as_json: bool) -> None:
    """Write a corpus with everything in it into one file, for `import` here or elsewhere.

    The file is there whole or not at all. The corpus stays.
    """
    from kgp_neo4j.corpus.load.export_corpus import export_corpus
    from kgp_neo4j.mindmap.load.export_graph import export_graph

    write = export_graph if graph else export_corpus
    with opened_database() as database:
        done = write(database, name, file, overwrite=overwrite)
    counts = f"{done.nodes:,} nodes and {done.relationships:,} relationships of {done.name}"
    print_result(done, as_json, f"{done.file}: {counts}, {done.bytes / 1e6:,.1f} MB.")
