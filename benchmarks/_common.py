"""What the benchmarks share: data, samples, runs, tables, pictures, and what machine it was."""

import argparse
import gzip
import importlib.util
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

from kgp_neo4j.evaluate.questions import draw
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import KgpError

Record = dict[str, Any]


# --- The command line ---------------------------------------------------------------------------


def parser(
    text: str, questions: int | None, folder: str = "holds the data sets"
) -> argparse.ArgumentParser:
    """Return a parser with the options that all share; `text` is a module's docstring."""
    made = argparse.ArgumentParser(
        description=text.split("\n\n")[0],
        epilog="\n\n".join(text.split("\n\n")[1:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    drawn = "all" if questions is None else str(questions)
    told = f"how many questions to draw (default: {drawn})"
    made.add_argument("--questions", type=positive, default=questions, metavar="N", help=told)
    made.add_argument("--seed", type=int, default=0, help="of every draw (default: 0)")
    made.add_argument("folder", type=Path, help=folder)
    return made


def training_parser(text: str, out: str, base: str) -> argparse.ArgumentParser:
    """Return a parser for a training upon `base`, from made questions too, into `out`."""
    made = parser(text, None)
    made.add_argument("--out", type=Path, default=Path(out), help="is written")
    made.add_argument("--made", type=Path, required=True, help="what make_questions.py wrote")
    made.add_argument("--from", type=Path, required=True, dest="base", help=base)
    return made


def positive(text: str) -> int:
    """Read a number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1 on")
    return int(text)


def words(text: str) -> list[str]:
    """Read a list with commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


@contextmanager
def explained() -> Any:
    """End the program with an error's own words instead of a traceback."""
    try:
        yield
    except KgpError as error:
        sys.exit(str(error))


def say(text: str) -> None:
    """Tell a person what is going on; the tables alone go to stdout."""
    print(text, file=sys.stderr, flush=True)


def kgp(*arguments: str) -> tuple[str, float]:
    """Run one command; return what it printed and its seconds."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "kgp_neo4j.cli", *arguments], text=True, stdout=subprocess.PIPE
    )
    if done.returncode:
        sys.exit(f"kgp-neo4j {' '.join(arguments)} failed with {done.returncode}")
    return done.stdout, time.perf_counter() - began


# --- Data ---------------------------------------------------------------------------------------


def read_lines(path: Path) -> list[Record]:
    """Return the records of a .jsonl or .jsonl.gz file."""
    if not path.is_file():
        sys.exit(f"{path} is not there")
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> str:
    """Write records as lines (also .gz) and return the file's path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return str(path)


def questions_of(path: Path, number: int | None, seed: int) -> list[Record]:
    """Return the questions of a file, or a seeded draw of them, in the file's order."""
    return draw(read_lines(path), number, seed)


def asked(record: Record) -> Question:
    """Return what a record asks."""
    return Question(str(record.get("id", record.get("_id"))), record["question"])


def scorer(path: Path) -> ModuleType:
    """Return the scorer: a module with `score(gold_file, run_file)`."""
    spec = importlib.util.spec_from_file_location("scorer", path)
    if not path.is_file() or spec is None or spec.loader is None:
        sys.exit(f"{path} is no scorer; give one with --score FILE")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mean(values: Iterable[float]) -> float:
    """Return the mean; 0 of nothing."""
    given = list(values)
    return sum(given) / len(given) if given else 0.0


def quantile(values: Iterable[float], share: float) -> float:
    """Return a quantile as `kgp-neo4j retrieve` does: the value at that place of the order."""
    given = sorted(values)
    return given[int(len(given) * share)]


def described() -> str:
    """Return what figures depend on beside the data in a line: date, cores and memory."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{date.today()}, {os.cpu_count()} cores ({platform.machine()}), {memory:.1f} GiB"


def peak_memory(process: int | str | None) -> float | None:
    """Return the peak resident memory of a process (`self`, or its id) in MB, where Linux says."""
    status = Path(f"/proc/{process}/status")
    if process is None or not status.exists():
        return None
    line = next((x for x in status.read_text().splitlines() if x.startswith("VmHWM")), None)
    return round(int(line.split()[1]) / 1024, 1) if line else None


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; floats are shown with one digit, None as a dash."""

    def cell(value: object) -> str:
        text = f"{value:,.1f}" if isinstance(value, float) else str(value)
        return "-" if value is None else text.replace("|", " ").replace("\n", " ")

    lines = [f"| {' | '.join(map(cell, row))} |" for row in (header, *rows)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]])
