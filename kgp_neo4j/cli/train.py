"""`kgp-neo4j train`: fine-tune the models of the agents and of the reader."""

from pathlib import Path
from typing import Any

import click

from kgp_neo4j.cli._options import default_option
from kgp_neo4j.cli._output import ResultGroup, opened_database, print_result

_PATH = click.Path(path_type=Path)


@click.group("train", cls=ResultGroup)
def train_command() -> None:
    """Fine-tune a model on questions and their supporting facts."""


_FILES = click.argument("files", nargs=-1, required=True, type=_PATH)
_OUT = click.option("--out", required=True, type=_PATH, help="The folder of what comes out.")
_SEED = default_option("--seed", 0, "Makes runs repeat.")
_OVERWRITE = click.option(
    "--overwrite", is_flag=True, help="Train anew where --out holds another training."
)


@train_command.command("llama")
@_FILES
@_OUT
@default_option(
    "--model", "huggyllama/llama-7b", "The checkpoint to begin with: a folder or a hub name."
)
@default_option("--epochs", 3, "Passes over FILES.")
@default_option("--batch", 4, "Pairs a step.")
@default_option("--rate", 3e-4, "Learning rate at most.")
@_SEED
@_OVERWRITE
def llama(files: tuple[Path, ...], out: Path, overwrite: bool, **given: Any) -> None:
    """Train LoRA adapters on LLaMA or any other causal checkpoint for --agent llama.

    The defaults are the paper's. The adapters name the model they belong to. It runs on a GPU when
    one is there.
    """
    from kgp_neo4j.train.llama import LlamaSettings, train_llama

    report = train_llama(files, out, LlamaSettings(**given), overwrite=overwrite)
    text = (
        f"{report.pairs} pairs of {report.questions} questions, {report.steps} steps on "
        f"{report.device}, loss {report.loss:.4f}, {report.seconds:.0f} s\n"
        f'Ask with it: kgp-neo4j ask "..." --corpus NAME --agent llama --model {out}'
    )
    print_result(report, text)


@train_command.command("scorer")
@click.option(
    "--set",
    "sets",
    multiple=True,
    required=True,
    metavar="CORPUS=FILE",
    help="A connected corpus and its training questions.",
)
@_OUT
@_SEED
@_OVERWRITE
def scorer(sets: tuple[str, ...], out: Path, seed: int, overwrite: bool) -> None:
    """Train the trees by which the learned agent judges passages."""
    from kgp_neo4j.train.scorer import train_scorer

    files = {}
    for each in sets:
        corpus, _, file = each.partition("=")
        if not (corpus and file):
            raise click.BadParameter(f"{each!r} is not CORPUS=FILE", param_hint="--set")
        files[corpus] = Path(file)
    with opened_database() as database:
        report = train_scorer(database, files, out, seed=seed, overwrite=overwrite)
    lines = []
    for corpus, number in report.questions.items():
        left = report.left_out[corpus]
        lines.append(
            f"{corpus}: {number:,} questions, R@5 {100 * report.reached[corpus]:.1f} in "
            "cross-validation" + (f" ({left} without their facts in the corpus)" if left else "")
        )
    lines.append(f"Ask with it: kgp-neo4j ask QUESTION --agent learned --model {out}")
    print_result(report, "\n".join(lines))


@train_command.command("reader")
@_FILES
@_OUT
@default_option("--epochs", 5, "Passes over the questions of several passages.")
@default_option("--batch", 4096, "Word pieces a step.")
@click.option(
    "--further",
    is_flag=False,
    flag_value="",
    metavar="[FOLDER]",
    help="Begin with a reader instead of the encoder (without FOLDER: the bundled one).",
)
@click.option("--rate", type=float, help="Learning rate (default: 2.5e-4, with --further 1e-4).")
@_SEED
@_OVERWRITE
def reader(
    files: tuple[Path, ...], out: Path, further: str | None, overwrite: bool, **given: Any
) -> None:
    """Train the reader that answers without a language model."""
    from kgp_neo4j.corpus.read.reader import SHIPPED
    from kgp_neo4j.environment.files import expanded
    from kgp_neo4j.train.reader import ReaderSettings, train_reader

    # What is not given has the default of the settings.
    options = {name: value for name, value in given.items() if value is not None}
    if further is not None:
        options["further"] = expanded(further) if further else SHIPPED
        options.setdefault("rate", 1e-4)
    report = train_reader(files, out, ReaderSettings(**options), overwrite=overwrite)
    lines = [
        f"{report.examples} examples, {report.steps} steps on {report.device}, "
        f"loss {report.loss:.4f}, {report.seconds:.0f} s"
    ]
    if report.figures:
        lines.append(f"Held out: {report.figures}")
    lines.append(f'Ask with it: kgp-neo4j ask "..." --corpus NAME --reader {out}')
    print_result(report, "\n".join(lines))
