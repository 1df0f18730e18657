"""`kgp-neo4j export` and `import`: a corpus or a knowledge graph as one file."""

from pathlib import Path

import click

from kgp_neo4j.cli._options import FILE, result_command
from kgp_neo4j.cli._output import opened_database, print_result


@result_command("export")
@click.argument("name")
@click.argument("file", type=FILE)
@click.option("--graph", is_flag=True, help="NAME is a knowledge graph, not a corpus.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
def export_command(name: str, file: Path, graph: bool, overwrite: bool) -> None:
    """Write a corpus with everything in it into one file, for `import` here or elsewhere.

    The file is there whole or not at all. The corpus stays.
    """
    from kgp_neo4j.corpus.load.export_corpus import export_corpus
    from kgp_neo4j.mindmap.load.graphs import export_graph

    write = export_graph if graph else export_corpus
    with opened_database() as database:
        done = write(database, name, file, overwrite=overwrite)
    counts = f"{done.nodes:,} nodes and {done.relationships:,} relationships of {done.name}"
    print_result(done, f"{done.file}: {counts}, {done.bytes / 1e6:,.1f} MB.")


@result_command("import")
@click.argument("file", type=FILE)
@click.option("--replace", is_flag=True, help="Delete what has the name now, if the file is good.")
def import_command(file: Path, replace: bool) -> None:
    """Import a corpus or knowledge graph from a file that `export` wrote.

    The file is checked before anything is written, and what is imported is visible once it is
    whole. If it is interrupted, import again.
    """
    from kgp_neo4j.corpus.load.export_corpus import import_corpus
    from kgp_neo4j.graphdb.export_files import read_manifest
    from kgp_neo4j.mindmap.load.graphs import import_graph

    read = import_corpus if read_manifest(file).kind == "corpus" else import_graph
    with opened_database() as database:
        done = read(database, file, replace=replace)
    kind = "corpus" if done.kind == "corpus" else "knowledge graph"
    counts = f"{done.nodes:,} nodes and {done.relationships:,} relationships"
    print_result(done, f"Imported the {kind} {done.name}: {counts}.")
