"""`kgp-neo4j connect`: the edges between passages."""

from __future__ import annotations

from typing import get_args

import click

from kgp_neo4j.cli._output import corpus_option, echo_json, json_option, say
from kgp_neo4j.types.corpus import GraphName
from kgp_neo4j.types.settings import (
    LINKERS,
    EntitySettings,
    KeywordSettings,
    MdrSettings,
    SimilaritySettings,
    default_of,
)

_EPILOG = """
\b
Examples:
  kgp-neo4j connect --corpus mine
  kgp-neo4j connect --corpus mine --edges tfidf --keywords 60
  kgp-neo4j connect --corpus mine --edges entity --aliases redirects.tsv
  kgp-neo4j connect --corpus mine --encoder sentence-transformers/all-mpnet-base-v2

Run it again after loading or deleting: it writes what has changed, and embeds only new passages.
A few new documents are joined into a corpus of 20,000 passages or more with what was counted in
the others.
More --keywords, --neighbours and --max-frequency make a denser graph.
"""


@click.command("connect", epilog=_EPILOG)
@corpus_option
@click.option(
    "--edges",
    multiple=True,
    type=click.Choice(get_args(GraphName)),
    help="Which graphs to make; give it once for each (default: tfidf, entity and knn-st).",
)
@click.option(
    "--keywords",
    type=int,
    default=default_of(KeywordSettings, "keywords"),
    show_default=True,
    help="Keywords kept for a passage.",
)
@click.option(
    "--longest",
    type=int,
    default=default_of(KeywordSettings, "longest"),
    show_default=True,
    help="Words in the longest keyword.",
)
@click.option(
    "--max-frequency",
    type=int,
    default=default_of(KeywordSettings, "max_frequency"),
    show_default=True,
    help="A keyword in more passages than this joins none.",
)
@click.option(
    "--neighbours",
    type=int,
    default=default_of(KeywordSettings, "neighbours"),
    show_default=True,
    help="Passages that each is joined to, by keywords, by entities and by similarity.",
)
@click.option(
    "--linker",
    type=click.Choice(LINKERS),
    default=default_of(EntitySettings, "linker"),
    show_default=True,
    help="What finds entities: the corpus's titles, these and a spaCy model, or a web service "
    "(its token in GCUBE_TOKEN).",
)
@click.option(
    "--aliases",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Further names of documents: lines of alias, tab, title.",
)
@click.option("--spacy-model", metavar="NAME", help="A spaCy model or folder, for --linker spacy.")
@click.option("--linker-url", metavar="URL", help="Where the service of --linker listens.")
@click.option(
    "--encoder",
    metavar="NAME",
    help="A sentence-transformers name or folder (default: all-MiniLM-L6-v2, offline).",
)
@click.option(
    "--mdr-model",
    metavar="FOLDER",
    help="The MDR encoder of --edges knn-mdr, as train mdr makes it; one comes along.",
)
@click.option(
    "--replace-embeddings", is_flag=True, help="Embed every passage anew, with another encoder."
)
@click.option(
    "--all",
    "anew",
    is_flag=True,
    help="Write every edge anew, also what was removed by hand, not only what has changed.",
)
@click.option(
    "--whole",
    is_flag=True,
    help="Count keywords and mentions in all texts again, also for a few new ones.",
)
@json_option
def command(
    corpus: str,
    edges: tuple[GraphName, ...],
    keywords: int,
    longest: int,
    max_frequency: int,
    neighbours: int,
    linker: str,
    aliases: str | None,
    spacy_model: str | None,
    linker_url: str | None,
    encoder: str | None,
    mdr_model: str | None,
    replace_embeddings: bool,
    anew: bool,
    whole: bool,
    as_json: bool,
) -> None:
    """Make the keyword (TF-IDF), entity (TAGME) and similarity (KNN) graphs of a corpus."""
    from kgp_neo4j.corpus.connect.graphs import EDGES, connect
    from kgp_neo4j.graphdb.open import open_database

    with open_database(echo=say) as database:
        report = connect(
            database,
            corpus,
            edges=edges or EDGES,
            keywords=KeywordSettings(keywords, longest, max_frequency, neighbours),
            entities=EntitySettings(
                linker=linker,
                aliases=aliases,
                max_frequency=max_frequency,
                neighbours=neighbours,
                spacy_model=spacy_model,
                url=linker_url,
            ),
            similarity=SimilaritySettings(encoder, neighbours, replace_embeddings),
            mdr=MdrSettings(mdr_model, neighbours, replace_embeddings),
            anew=anew,
            whole=whole,
        )
    if as_json:
        echo_json(report)
        return
    click.echo(f"{click.style('Connected', fg='green')} {corpus} in {report.seconds['all']:.1f} s")
    if report.joined:
        click.echo(f"  passages joined in    {report.joined:>10,}")
    if not edges or "tfidf" in edges:
        click.echo(f"  keywords              {report.keywords:>10,}")
        click.echo(f"  shared-keyword edges  {report.shared_keyword_edges:>10,}")
    if not edges or "entity" in edges:
        click.echo(f"  mentions              {report.mentions:>10,}")
        click.echo(f"  entities              {report.entities:>10,}")
        click.echo(f"  shared-entity edges   {report.shared_entity_edges:>10,}")
    if not edges or "knn-st" in edges:
        click.echo(f"  passages embedded     {report.embedded:>10,}")
        click.echo(f"  similarity edges      {report.similarity_edges:>10,}")
    if report.gds_memory:
        click.echo(f"  heap for GDS, MiB     {report.gds_memory / 2**20:>10,.0f}")
    if "knn-mdr" in edges:
        click.echo(f"  embedded by MDR       {report.mdr_embedded:>10,}")
        click.echo(f"  MDR edges             {report.mdr_edges:>10,}")
    steps = ", ".join(f"{s} {took:.1f}" for s, took in report.seconds.items() if s != "all")
    click.echo(click.wrap_text(f"seconds: {steps}", 100, "  ", "    "))
