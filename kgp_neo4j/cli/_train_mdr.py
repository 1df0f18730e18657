"""`kgp-neo4j train mdr`: an encoder that predicts the next supporting passage."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from kgp_neo4j.cli._options import (
    out_option,
    overwrite_option,
    save_every_option,
    seed_option,
)
from kgp_neo4j.cli._output import echo_json, json_option, say
from kgp_neo4j.cli._training import say_begun_before

__all__ = ["command"]

_EPILOG = """
\b
Examples:
  kgp-neo4j train mdr hotpot_train_v1.1.json --out mdr/
  kgp-neo4j train mdr train.jsonl.gz --corpus mine --out mdr/
  kgp-neo4j train mdr --corpus mine --out mdr/ --pairs 2000
  kgp-neo4j connect --corpus mine --edges knn-mdr --mdr-model mdr/

QUESTIONS are training files of HotpotQA, 2WikiMultihopQA or MuSiQue. With --corpus too, passages
that it finds for a question become hard negatives. With --corpus alone, what is learnt from are its
own sentences: those that name another document, and those taken out of their passage.
The same command again goes on where it was stopped.
"""


@click.command("mdr", epilog=_EPILOG)
@click.argument("questions", nargs=-1, type=click.Path(path_type=Path))
@click.option("--corpus", envvar="KGP_NEO4J_CORPUS", metavar="NAME", help="A corpus to learn from.")
@out_option
@click.option(
    "--encoder",
    metavar="NAME",
    help="The sentence-transformers name or folder to start from (default: all-MiniLM-L6-v2).",
)
@click.option(
    "--lora-rank",
    type=int,
    default=8,
    show_default=True,
    help="Rank of the LoRA adapter; 0 trains the whole encoder.",
)
@click.option(
    "--pairs",
    type=click.IntRange(2, 1_000_000),
    default=10_000,
    show_default=True,
    help="Training pairs at most from a corpus without labels.",
)
@click.option(
    "--negatives", type=int, default=2, show_default=True, help="Hard negatives of each pair."
)
@click.option("--batch", type=int, default=16, show_default=True, help="Pairs a step.")
@click.option("--epochs", type=int, default=3, show_default=True, help="Passes over the pairs.")
@click.option("--max-steps", type=int, help="Training steps, whatever the epochs would be.")
@click.option(
    "--rate", type=float, help="Learning rate (default: 2e-4 for LoRA, 2e-5 for the whole encoder)."
)
@save_every_option(100)
@seed_option
@overwrite_option
@json_option
def command(
    questions: tuple[Path, ...],
    corpus: str | None,
    out: Path,
    encoder: str | None,
    lora_rank: int,
    pairs: int,
    negatives: int,
    batch: int,
    epochs: int,
    max_steps: int | None,
    rate: float | None,
    save_every: int,
    seed: int,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Train an encoder that predicts the next supporting passage from those before it.

    It makes the KNN-MDR graph (`connect --edges knn-mdr`) and is what the agent mdr follows.
    """
    from kgp_neo4j.graphdb.open import open_database
    from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
    from kgp_neo4j.train.mdr import MdrTraining, train_mdr
    from kgp_neo4j.train.mdr_pairs import gather_pairs

    settings = MdrTraining(
        encoder=encoder or DEFAULT_ENCODER,
        lora_rank=lora_rank,
        negatives=negatives,
        batch=batch,
        epochs=epochs,
        steps=max_steps,
        learning_rate=rate,
        seed=seed,
    )
    gather = partial(gather_pairs, questions, pairs=pairs, negatives=negatives, seed=seed)
    if corpus is None:
        made, sources = gather()
    else:
        with open_database(echo=say) as database:
            made, sources = gather(database=database, corpus=corpus)
    report = train_mdr(
        made, out, settings, sources=sources, save_every=save_every, overwrite=overwrite
    )
    if as_json:
        echo_json(report)
        return
    say_begun_before(out, report.resumed, report.done_before)
    click.echo(
        f"{click.style('Trained', fg='green')} on {report.pairs:,} pairs in {report.steps:,} "
        f"steps, {report.seconds:.0f} s; the loss went from {report.first_loss:.3f} to "
        f"{report.last_loss:.3f}"
    )
    click.echo(
        f"Connect with it: kgp-neo4j connect --corpus NAME --edges knn-mdr --mdr-model {out}"
    )
