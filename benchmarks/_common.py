"""What the benchmarks share: data, samples, runs, tables, and what machine it was."""

import argparse
import json
import os
import platform
import resource
import runpy
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from kgp_neo4j.environment.files import read_values

Record = dict[str, Any]

#: What a scorer is asked for.
SCORES = "recall@2 recall@5 precision@5 all@5 recall@10 all@10 recall@30 all@30".split()


# --- The command line ---------------------------------------------------------------------------


def plain_parser(text: str, folder: str = "holds the data sets") -> argparse.ArgumentParser:
    """Return a parser of a module's docstring `text` and of the folder that all read."""
    first, _, rest = text.partition("\n\n")
    form = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(description=first, epilog=rest, formatter_class=form)
    made.add_argument("folder", type=Path, help=folder)
    return made


def parser(
    text: str, questions: int | None, folder: str = "holds the data sets"
) -> argparse.ArgumentParser:
    """Return a parser of which questions are drawn, too; by default all or `questions`."""
    made = plain_parser(text, folder)
    told = f"how many questions to draw (default: {questions or 'all'})"
    made.add_argument("--questions", type=int, default=questions, metavar="N", help=told)
    made.add_argument("--seed", type=int, default=0, help="of every draw (default: 0)")
    return made


def training_options(text: str, out: str, base: str) -> argparse.Namespace:
    """Return what is given for a training upon `base`, from made questions too, into `out`."""
    made = parser(text, None)
    made.add_argument("--out", type=Path, default=Path(out), help="is written")
    made.add_argument("--made", type=Path, required=True, help="what make_questions.py wrote")
    made.add_argument("--from", type=Path, required=True, dest="base", help=base)
    return made.parse_args()


def words(text: str) -> list[str]:
    """Read a list with commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


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


def connected(file: Path, corpus: str, *options: str) -> tuple[float, float, Record]:
    """Load a file and connect it; return the seconds of each, and what `connect` reports."""
    _, load = kgp("load", str(file), "--corpus", corpus)
    told, connect = kgp("connect", "--corpus", corpus, "--json", *options)
    return load, connect, json.loads(told)


def retrieved(questions: Path, corpus: str, out: Path, score: Any, *options: str) -> Record:
    """Retrieve for a file of questions; return the seconds, and the `SCORES` where `score` is."""
    asked = ("retrieve", str(questions), "--corpus", corpus, "--out", str(out), "--json", *options)
    row: Record = json.loads(kgp(*asked)[0])
    table = score.score(str(questions), str(out))[0].values() if score else ()
    return row | {name: 100 * mean(each[name] for each in table) for name in SCORES if table}


def peaks() -> tuple[float, float | None]:
    """Return the peak memory in MB of the commands run so far, and of the server on Linux."""
    python = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    server = json.loads(kgp("server", "status", "--json")[0]).get("pid")
    status = Path(f"/proc/{server}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    held = [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")]
    return python, held[0] if held else None


# --- Data ---------------------------------------------------------------------------------------


def read_lines(*paths: Path) -> list[Record]:
    """Return the records of .jsonl or .jsonl.gz files."""
    return [record for path in paths for record, _ in read_values(path, path.name)]


def extractive(data: Path) -> list[Path]:
    """Return the files of questions over one passage each, of many kinds of texts."""
    return [data / "extractive_qa" / f"{name}.jsonl.gz" for name in ("pool_extractive", "more")]


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> str:
    """Write records as lines and return the file's path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return str(path)


def scorer(path: str) -> SimpleNamespace:
    """Read a scorer: a module with `score(gold_file, run_file)`."""
    if not Path(path).is_file():
        sys.exit(f"{path} is no scorer; give one with --score FILE")
    return SimpleNamespace(**runpy.run_path(path))


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


def line(cells: Iterable[object]) -> str:
    """Return a row of a Markdown table; floats are shown with one digit, None as a dash."""

    def shown(value: object) -> str:
        text = f"{value:,.1f}" if isinstance(value, float) else str(value)
        return "-" if value is None else text.replace("|", " ").replace("\n", " ")

    return f"| {' | '.join(map(shown, cells))} |"


def markdown(header: Sequence[str], rows: Iterable[Iterable[object]] = ()) -> str:
    """Return a Markdown table."""
    return "\n".join([line(header), "|---" * len(header) + "|", *map(line, rows)])
