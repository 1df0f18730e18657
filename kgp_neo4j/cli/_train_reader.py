"""`kgp-neo4j train reader`: the offline reader."""

from __future__ import annotations

from pathlib import Path

import click

from kgp_neo4j.cli._options import (
    out_option,
    overwrite_option,
    save_every_option,
    seed_option,
)
from kgp_neo4j.cli._output import echo_json, json_option
from kgp_neo4j.cli._training import say_begun_before

_EPILOG = """
\b
Examples:
  kgp-neo4j train reader train.json.gz squad.jsonl.gz --out trained/reader
  kgp-neo4j train reader questions.jsonl --out trained/reader --layers 2 --epochs 4
  kgp-neo4j train reader questions.jsonl --out trained/reader --single 0 --epochs 1 --further

\b
FILES are the training files of HotpotQA, 2WikiMultihopQA or MuSiQue, lines with
"context" and "qas", or lines with "passage", "question" and a true or false
"answer". One in eight questions over several passages is held out, to measure how
sure the reader may be. The same command again goes on where it was stopped.
"""


@click.command("reader", epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@out_option
@click.option("--encoder", help="A sentence encoder of BERT's kind (default: the offline one).")
@click.option(
    "--layers", type=int, default=6, show_default=True, help="Upper layers that are trained."
)
@click.option(
    "--single", type=int, default=27000, show_default=True, help="Examples of one passage to draw."
)
@click.option(
    "--epochs",
    type=int,
    default=5,
    show_default=True,
    help="Passes over the questions of several passages.",
)
@click.option("--batch", type=int, default=4096, show_default=True, help="Word pieces a step.")
@click.option(
    "--longest", type=int, default=512, show_default=True, help="Word pieces of a window."
)
@click.option(
    "--further",
    is_flag=False,
    flag_value="",
    metavar="[FOLDER]",
    help="Begin with a reader instead of the encoder (without FOLDER: the one that comes along).",
)
@click.option("--rate", type=float, help="Learning rate (default: 2.5e-4, with --further 1e-4).")
@seed_option
@save_every_option(200)
@overwrite_option
@json_option
def command(
    files: tuple[Path, ...],
    out: Path,
    encoder: str | None,
    layers: int,
    single: int,
    epochs: int,
    batch: int,
    longest: int,
    further: str | None,
    rate: float | None,
    seed: int,
    save_every: int,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Train the reader that answers without a language model."""
    from kgp_neo4j.corpus.read.reader import SHIPPED
    from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
    from kgp_neo4j.train.reader import ReaderSettings, train_reader

    settings = ReaderSettings(
        encoder=encoder or DEFAULT_ENCODER,
        layers=layers,
        single=single,
        epochs=epochs,
        batch=batch,
        longest=longest,
        rate=rate or (2.5e-4 if further is None else 1e-4),
        further=None if further is None else Path(further).expanduser() if further else SHIPPED,
        seed=seed,
    )
    report = train_reader(files, out, settings, save_every=save_every, overwrite=overwrite)
    if as_json:
        echo_json(report)
        return
    say_begun_before(out, report.resumed, report.done_before)
    click.echo(
        f"{report.examples} examples, {report.steps} steps on {report.device}, "
        f"loss {report.loss:.4f}, {report.seconds:.0f} s"
    )
    if report.right is not None and report.calibration_error is not None:
        click.echo(
            f"Held out: {100 * report.right:.1f} % answered rightly, calibration error "
            f"{100 * report.calibration_error:.1f} points"
        )
    click.echo(f'Ask with it: kgp-neo4j ask "..." --corpus NAME --reader {out}')
