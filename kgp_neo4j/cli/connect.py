"""`kgp-neo4j connect`: the edges between passages."""

from __future__ import annotations

import click

from kgp_neo4j.cli._output import corpus_option, echo_json, json_option, say

_EPILOG = """
\b
Examples:
  kgp-neo4j connect --corpus mine
  kgp-neo4j connect --corpus mine --edges tfidf --keywords 60
  kgp-neo4j connect --corpus mine --encoder sentence-transformers/all-mpnet-base-v2

Running it again replaces the edges; passages are embedded only once. More --keywords,
--neighbours and --max-frequency make a denser graph.
"""


@click.command("connect", epilog=_EPILOG)
@corpus_option
@click.option(
    "--edges",
    multiple=True,
    type=click.Choice(["tfidf", "knn-st"]),
    help="Which graphs to make; give it once for each (default: both).",
)
@click.option(
    "--keywords", type=int, default=30, show_default=True, help="Keywords kept for a passage."
)
@click.option(
    "--longest", type=int, default=4, show_default=True, help="Words in the longest keyword."
)
@click.option(
    "--max-frequency",
    type=int,
    default=50,
    show_default=True,
    help="A keyword in more passages than this joins none.",
)
@click.option(
    "--neighbours",
    type=int,
    default=10,
    show_default=True,
    help="Passages that each is joined to, by keywords and by similarity.",
)
@click.option(
    "--encoder",
    metavar="NAME",
    help="A sentence-transformers name or folder (default: all-MiniLM-L6-v2, offline).",
)
@click.option(
    "--replace-embeddings", is_flag=True, help="Embed every passage anew, with another encoder."
)
@json_option
def command(
    corpus: str,
    edges: tuple[str, ...],
    keywords: int,
    longest: int,
    max_frequency: int,
    neighbours: int,
    encoder: str | None,
    replace_embeddings: bool,
    as_json: bool,
) -> None:
    """Make the keyword (TF-IDF) graph and the similarity (KNN) graph of a corpus."""
    from kgp_neo4j.connect import EDGES, KeywordSettings, SimilaritySettings, connect
    from kgp_neo4j.installation import open_database

    with open_database(echo=say) as database:
        report = connect(
            database,
            corpus,
            edges=edges or EDGES,
            keywords=KeywordSettings(keywords, longest, max_frequency, neighbours),
            similarity=SimilaritySettings(encoder, neighbours, replace_embeddings),
        )
    if as_json:
        echo_json(report)
        return
    click.echo(f"{click.style('Connected', fg='green')} {corpus} in {report.seconds['all']:.1f} s")
    if not edges or "tfidf" in edges:
        click.echo(f"  keywords              {report.keywords:>10,}")
        click.echo(f"  shared-keyword edges  {report.shared_keyword_edges:>10,}")
    if not edges or "knn-st" in edges:
        click.echo(f"  passages embedded     {report.embedded:>10,}")
        click.echo(f"  similarity edges      {report.similarity_edges:>10,}")
