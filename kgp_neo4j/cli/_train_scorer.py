"""`kgp-neo4j train scorer`: the learned agent's trees."""

from __future__ import annotations

from pathlib import Path

import click

from kgp_neo4j.cli._options import out_option, overwrite_option, seed_option
from kgp_neo4j.cli._output import echo_json, json_option, say

_EPILOG = """
\b
Examples:
  kgp-neo4j train scorer --set hotpotqa=train.jsonl.gz --out trained/scorer
  kgp-neo4j ask "Who built the lighthouse?" --corpus mine --agent learned --model trained/scorer

\b
A set is a connected corpus and the questions whose supporting facts stand in it; give
--set once for each. Needs the extra `train` (lightgbm).
"""


@click.command("scorer", epilog=_EPILOG)
@click.option(
    "--set",
    "sets",
    multiple=True,
    required=True,
    metavar="CORPUS=FILE",
    help="A connected corpus and its training questions.",
)
@out_option
@click.option("--trees", type=int, default=300, show_default=True, help="Trees for each hop.")
@click.option("--leaves", type=int, default=15, show_default=True, help="Leaves of a tree.")
@click.option("--rate", type=float, default=0.06, show_default=True, help="Learning rate.")
@seed_option
@overwrite_option
@json_option
def command(
    sets: tuple[str, ...],
    out: Path,
    trees: int,
    leaves: int,
    rate: float,
    seed: int,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Train the trees by which the learned agent judges passages."""
    from kgp_neo4j.graphdb.open import open_database
    from kgp_neo4j.train.boosting import BoostingSettings
    from kgp_neo4j.train.scorer import TrainingSet, train_scorer

    made = []
    for each in sets:
        corpus, equals, file = each.partition("=")
        if not (corpus and equals and file):
            raise click.BadParameter(f"{each!r} is not CORPUS=FILE", param_hint="--set")
        made.append(TrainingSet(corpus, Path(file)))
    settings = BoostingSettings(trees=trees, leaves=leaves, rate=rate, seed=seed)
    with open_database(echo=say) as database:
        report = train_scorer(database, made, out, settings=settings, overwrite=overwrite)
    if as_json:
        echo_json(report)
        return
    for corpus, number in report.questions.items():
        left = report.left_out[corpus]
        click.echo(
            f"{corpus}: {number:,} questions, R@5 {100 * report.reached[corpus]:.1f} in "
            "cross-validation" + (f" ({left} without their facts in the corpus)" if left else "")
        )
    click.echo(f"Ask with it: kgp-neo4j ask QUESTION --agent learned --model {out}")
