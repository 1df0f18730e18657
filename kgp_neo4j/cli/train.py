"""`kgp-neo4j train`: fine-tune the models of the agents and of the reader.

Options are called as the fields of the training's settings, which check their values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from kgp_neo4j.cli._output import echo_json, json_option, say

F = TypeVar("F", bound=Callable[..., Any])
_PATH = click.Path(path_type=Path)

_EPILOG = """
\b
Examples:
  kgp-neo4j train t5 train.json.gz --out trained/t5
  kgp-neo4j train llama train.json.gz --out trained/llama --dev dev.json.gz
  kgp-neo4j train mdr --corpus mine --out trained/mdr
  kgp-neo4j train reader train.json.gz --out trained/reader

\b
FILES are the training files of HotpotQA, 2WikiMultihopQA or MuSiQue, with their
supporting facts. The same command again goes on where it was stopped.
"""


@click.group("train", epilog=_EPILOG)
def command() -> None:
    """Fine-tune a model on questions and their supporting facts."""


def _option(name: str, default: int | float | str, help: str) -> Callable[[F], F]:
    """Return an option of the default's type, which the help shows."""
    return click.option(name, type=type(default), default=default, show_default=True, help=help)


def _options(*parts: Callable[[F], F]) -> Callable[[F], F]:
    """Return options, the first of them first in the help, as one decorator."""

    def add(command: F) -> F:
        for part in reversed(parts):
            command = part(command)
        return command

    return add


_OUT = click.option(
    "--out", required=True, type=_PATH, help="The folder of what comes out, and of checkpoints."
)
_SEED = _option("--seed", 0, "Makes runs repeat.")
_OVERWRITE = click.option(
    "--overwrite", is_flag=True, help="Train anew where --out holds another training."
)


def _ending(save_every: int) -> Callable[[F], F]:
    """Return the last options of a training that keeps checkpoints."""
    every = click.option(
        "--save-every",
        type=click.IntRange(min=1),
        default=save_every,
        show_default=True,
        help="Steps between two checkpoints.",
    )
    return _options(_SEED, every, _OVERWRITE, json_option)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that have a value; the settings have the defaults of the others."""
    return {name: value for name, value in options.items() if value is not None}


def _say_begun_before(out: Path, report: Any) -> None:
    """Print at which step a training resumed, or that it was finished before."""
    if report.done_before:
        click.echo(f"{out} is trained already with these settings; nothing was left to do.")
    elif report.resumed:
        click.echo(f"Went on from step {report.resumed}.")


# --- Agents that write ---


def _writing_options(model: str, rate: float) -> Callable[[F], F]:
    return _options(
        click.argument("files", nargs=-1, required=True, type=_PATH),
        _OUT,
        _option("--model", model, "The checkpoint to begin with: a folder or a hub name."),
        click.option("--dev", type=_PATH, help="Questions to report the loss on."),
        _option("--epochs", 3, "Passes over FILES."),
        _option("--batch", 4, "Pairs a step."),
        _option("--rate", rate, "Learning rate at first."),
        _ending(500),
    )


def _train_writing(
    agent: str,
    files: Sequence[Path],
    out: Path,
    dev: Path | None,
    save_every: int,
    overwrite: bool,
    as_json: bool,
    **changes: Any,
) -> None:
    """Train with an agent's settings, changed by the given options, and print the report."""
    from kgp_neo4j.train.generation import LLAMA, T5, train_generator

    settings = replace(T5 if agent == "t5" else LLAMA, **changes)
    report = train_generator(
        files, out, settings, dev=dev, save_every=save_every, overwrite=overwrite
    )
    if as_json:
        echo_json(report)
        return
    _say_begun_before(out, report)
    dev_loss = "" if report.dev_loss is None else f", {report.dev_loss:.4f} on {dev}"
    click.echo(
        f"{report.pairs} pairs of {report.questions} questions, {report.steps} steps on "
        f"{report.device}, loss {report.loss:.4f}{dev_loss}, {report.seconds:.0f} s"
    )
    click.echo(f'Ask with it: kgp-neo4j ask "..." --corpus NAME --agent {agent} --model {out}')


_T5_EPILOG = """
\b
Examples:
  kgp-neo4j train t5 train.json.gz --out trained/t5
  kgp-neo4j train t5 train.json.gz --out trained/small --model google-t5/t5-small
  kgp-neo4j ask "..." --corpus mine --agent t5 --model trained/t5
"""


@command.command("t5", epilog=_T5_EPILOG)
@_writing_options("google-t5/t5-large", 1e-4)
@click.option("--lora", is_flag=True, help="Train adapters instead of all weights.")
def t5(**given: Any) -> None:
    """Fine-tune a T5 or any other seq2seq checkpoint for --agent t5.

    The defaults are the paper's. Without --lora all weights are trained. It runs on a GPU when
    one is there.
    """
    _train_writing("t5", **given)


_LLAMA_EPILOG = """
\b
Examples:
  kgp-neo4j train llama train.json.gz --out trained/llama
  kgp-neo4j train llama train.json.gz --out trained/small --model HuggingFaceTB/SmolLM2-135M
  kgp-neo4j ask "..." --corpus mine --agent llama --model trained/llama
"""


@command.command("llama", epilog=_LLAMA_EPILOG)
@_writing_options("huggyllama/llama-7b", 3e-4)
@_option("--rank", 8, "Rank of the adapters.")
@_option("--alpha", 16, "Scale of the adapters.")
@click.option(
    "--dropout",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.05,
    show_default=True,
    help="Share of the adapters' inputs left out in training.",
)
def llama(**given: Any) -> None:
    """Train LoRA adapters on LLaMA or any other causal checkpoint for --agent llama.

    The defaults are the paper's. The adapters name the model they belong to. It runs on a GPU when
    one is there.
    """
    _train_writing("llama", **given)


# --- The encoder, the trees and the reader ---

_MDR_EPILOG = """
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


@command.command("mdr", epilog=_MDR_EPILOG)
@click.argument("questions", nargs=-1, type=_PATH)
@click.option("--corpus", envvar="KGP_NEO4J_CORPUS", metavar="NAME", help="A corpus to learn from.")
@_OUT
@click.option(
    "--encoder",
    metavar="NAME",
    help="The sentence-transformers name or folder to start from (default: all-MiniLM-L6-v2).",
)
@_option("--lora-rank", 8, "Rank of the LoRA adapter; 0 trains the whole encoder.")
@click.option(
    "--pairs",
    type=click.IntRange(2, 1_000_000),
    default=10_000,
    show_default=True,
    help="Training pairs at most from a corpus without labels.",
)
@_option("--negatives", 2, "Hard negatives of each pair.")
@_option("--batch", 16, "Pairs a step.")
@_option("--epochs", 3, "Passes over the pairs.")
@click.option("--max-steps", "steps", type=int, help="Training steps, whatever the epochs say.")
@click.option(
    "--rate",
    "learning_rate",
    type=float,
    help="Learning rate (default: 2e-4 for LoRA, 2e-5 for the whole encoder).",
)
@_ending(100)
def mdr(
    questions: tuple[Path, ...],
    corpus: str | None,
    out: Path,
    pairs: int,
    save_every: int,
    overwrite: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Train an encoder that predicts the next supporting passage from those before it.

    It makes the KNN-MDR graph (`connect --edges knn-mdr`) and is what the agent mdr follows.
    """
    from kgp_neo4j.graphdb.open import open_database
    from kgp_neo4j.train.mdr import MdrTraining, train_mdr
    from kgp_neo4j.train.mdr_pairs import gather_pairs

    settings = MdrTraining(**_given(given))
    gather = partial(
        gather_pairs, questions, pairs=pairs, negatives=settings.negatives, seed=settings.seed
    )
    if corpus is None:
        training_pairs, sources = gather()
    else:
        with open_database(echo=say) as database:
            training_pairs, sources = gather(database=database, corpus=corpus)
    report = train_mdr(
        training_pairs, out, settings, sources=sources, save_every=save_every, overwrite=overwrite
    )
    if as_json:
        echo_json(report)
        return
    _say_begun_before(out, report)
    click.echo(
        f"{click.style('Trained', fg='green')} on {report.pairs:,} pairs in {report.steps:,} "
        f"steps, {report.seconds:.0f} s; the loss went from {report.first_loss:.3f} to "
        f"{report.last_loss:.3f}"
    )
    click.echo(
        f"Connect with it: kgp-neo4j connect --corpus NAME --edges knn-mdr --mdr-model {out}"
    )


_SCORER_EPILOG = """
\b
Examples:
  kgp-neo4j train scorer --set hotpotqa=train.jsonl.gz --out trained/scorer
  kgp-neo4j ask "Who built the lighthouse?" --corpus mine --agent learned --model trained/scorer

\b
A set is a connected corpus and the questions whose supporting facts stand in it; give
--set once for each. Needs the extra `train` (lightgbm).
"""


@command.command("scorer", epilog=_SCORER_EPILOG)
@click.option(
    "--set",
    "sets",
    multiple=True,
    required=True,
    metavar="CORPUS=FILE",
    help="A connected corpus and its training questions.",
)
@_OUT
@_option("--trees", 300, "Trees for each hop.")
@_option("--leaves", 15, "Leaves of a tree.")
@_option("--rate", 0.06, "Learning rate.")
@_SEED
@_OVERWRITE
@json_option
def scorer(sets: tuple[str, ...], out: Path, overwrite: bool, as_json: bool, **given: Any) -> None:
    """Train the trees by which the learned agent judges passages."""
    from kgp_neo4j.graphdb.open import open_database
    from kgp_neo4j.train.boosting import BoostingSettings
    from kgp_neo4j.train.scorer import TrainingSet, train_scorer

    training_sets = []
    for each in sets:
        corpus, equals, file = each.partition("=")
        if not (corpus and equals and file):
            raise click.BadParameter(f"{each!r} is not CORPUS=FILE", param_hint="--set")
        training_sets.append(TrainingSet(corpus, Path(file)))
    settings = BoostingSettings(**given)
    with open_database(echo=say) as database:
        report = train_scorer(database, training_sets, out, settings=settings, overwrite=overwrite)
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


_READER_EPILOG = """
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


@command.command("reader", epilog=_READER_EPILOG)
@click.argument("files", nargs=-1, required=True, type=_PATH)
@_OUT
@click.option("--encoder", help="A sentence encoder of BERT's kind (default: the offline one).")
@_option("--layers", 6, "Upper layers that are trained.")
@_option("--single", 27000, "Examples of one passage to draw.")
@_option("--epochs", 5, "Passes over the questions of several passages.")
@_option("--batch", 4096, "Word pieces a step.")
@_option("--longest", 512, "Word pieces of a window.")
@click.option(
    "--further",
    is_flag=False,
    flag_value="",
    metavar="[FOLDER]",
    help="Begin with a reader instead of the encoder (without FOLDER: the bundled one).",
)
@click.option("--rate", type=float, help="Learning rate (default: 2.5e-4, with --further 1e-4).")
@_ending(200)
def reader(
    files: tuple[Path, ...],
    out: Path,
    further: str | None,
    save_every: int,
    overwrite: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Train the reader that answers without a language model."""
    from kgp_neo4j.corpus.read.reader import SHIPPED
    from kgp_neo4j.train.reader import ReaderSettings, train_reader

    options = _given(given)
    if further is not None:
        options["further"] = Path(further).expanduser() if further else SHIPPED
        options.setdefault("rate", 1e-4)
    settings = ReaderSettings(**options)
    report = train_reader(files, out, settings, save_every=save_every, overwrite=overwrite)
    if as_json:
        echo_json(report)
        return
    _say_begun_before(out, report)
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
