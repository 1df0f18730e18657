"""What the benchmarks share: data, samples, runs, tables, pictures, and what machine it was."""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import platform
import random
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import KgpError

#: Gold passages of a question as (title, text); the text is None where the title says enough.
Gold = list[tuple[str, str | None]]
Record = dict[str, Any]

#: The context budget of every method, in distinct passages, as in the paper.
BUDGET = 30


# --- The command line ---------------------------------------------------------------------------


def parser(text: str, questions: int | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all share; `text` is a module's docstring."""
    made = argparse.ArgumentParser(
        description=text.split("\n\n")[0],
        epilog="\n\n".join(text.split("\n\n")[1:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    drawn = "all" if questions is None else str(questions)
    made.add_argument(
        "--questions",
        type=positive,
        default=questions,
        metavar="N",
        help=f"how many questions to draw (default: {drawn})",
    )
    made.add_argument("--seed", type=int, default=0, help="of every draw (default: 0)")
    made.add_argument(
        "--resume", action="store_true", help="keep what an earlier run with these settings did"
    )
    made.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).parent,
        metavar="FOLDER",
        help="gets results/, plots/ and runs/ (default: that of this script)",
    )
    return made


def add_data(made: argparse.ArgumentParser) -> None:
    """Add the data set and its scorer to a parser."""
    made.add_argument("folder", type=Path, help="holds corpus.jsonl.gz and dev.jsonl.gz")
    made.add_argument("--split", default="dev", help="the questions' file (default: dev)")
    made.add_argument(
        "--score",
        type=Path,
        default=Path("../shared/score/score.py"),
        metavar="FILE",
        help="a scorer with score(GOLD, RUN) (default: ../shared/score/score.py)",
    )
    made.add_argument("--encoder", metavar="NAME", help="embeds the passages (default: offline)")


def positive(text: str) -> int:
    """Read a number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1 on")
    return int(text)


def words(text: str) -> list[str]:
    """Read a list with commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def numbers(text: str) -> list[int]:
    """Read a list of numbers with commas, in rising order."""
    return sorted({positive(word) for word in words(text)})


def check(known: Sequence[str], given: Iterable[str], what: str) -> None:
    """End the program where something given is not known."""
    unknown = [name for name in given if name not in known]
    if unknown:
        sys.exit(f"there is no {what} {', '.join(unknown)}; choose among {', '.join(known)}")


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
    rows = read_lines(path)
    if number is None or number >= len(rows):
        return rows
    return [rows[i] for i in sorted(random.Random(seed).sample(range(len(rows)), number))]


def asked(record: Record) -> Question:
    """Return what a record asks."""
    return Question(str(record.get("id", record.get("_id"))), record["question"])


def gold_of(record: Record) -> Gold:
    """Return the gold passages of a question of HotpotQA, 2WikiMultihopQA or MuSiQue."""
    if "paragraphs" in record:
        return [
            (p["title"], p["paragraph_text"].strip())
            for p in record["paragraphs"]
            if p["is_supporting"]
        ]
    return [(title, None) for title in sorted({fact[0] for fact in record["supporting_facts"]})]


def is_gold(gold: Gold, title: str, text: str) -> bool:
    """Say whether a passage is one of the gold ones."""
    return any(t == title and (x is None or x == text.strip()) for t, x in gold)


# --- Runs ---------------------------------------------------------------------------------------


def scorer(path: Path) -> ModuleType:
    """Return the scorer: a module with `score(gold_file, run_file)`."""
    spec = importlib.util.spec_from_file_location("scorer", path)
    if not path.is_file() or spec is None or spec.loader is None:
        sys.exit(f"{path} is no scorer; give one with --score FILE")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(retriever: Any, records: Sequence[Record], out: Path, *, resume: bool) -> list[Record]:
    """Retrieve for every question and return a line each, as they are written to `out` too.

    Beside what a scorer reads, each passage has its `id`, the `edge` it was reached by, and the id
    of the passage it was reached `from`. With `resume`, lines that are in `out` already are kept.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    done = {}
    if resume and out.is_file():
        for line in out.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue  # cut short
            done[row["id"]] = row
    left = [question for question in map(asked, records) if question.id not in done]
    if left:
        retriever.retrieve(left[-1])  # what is loaded on first use is no part of the seconds
    write_lines(out, done.values())
    with out.open("a", encoding="utf-8") as file:
        for question in left:
            found = retriever.retrieve(question)
            done[question.id] = {
                "id": question.id,
                "retrieved": [
                    {
                        "title": p.title,
                        "text": p.text,
                        "id": p.id,
                        "edge": path.steps[-1].edge,
                        "from": path.steps[-2].passage if len(path.steps) > 1 else None,
                    }
                    for p, path in zip(found.passages, found.paths, strict=True)
                ],
                "seconds": round(found.seconds, 6),
            }
            file.write(json.dumps(done[question.id], ensure_ascii=False) + "\n")
            file.flush()
    return [done[question.id] for question in map(asked, records)]


def means(table: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> dict[str, float]:
    """Return the means of a scorer's figures, in per cent."""
    return {name: 100 * mean(row[name] for row in table.values()) for name in names}


def mean(values: Iterable[float]) -> float:
    """Return the mean; 0 of nothing."""
    given = list(values)
    return sum(given) / len(given) if given else 0.0


def quantile(values: Iterable[float], share: float) -> float:
    """Return a quantile as `kgp-neo4j retrieve` does: the value at that place of the order."""
    given = sorted(values)
    return given[int(len(given) * share)]


def reliability_table(sure: Sequence[float], right: Sequence[bool]) -> str:
    """Return a Markdown table of how sure a reader was and how often it was right."""
    from kgp_neo4j.train.reader_calibration import reliability

    return markdown(
        ("confidence", "answers", "mean", "right"),
        (
            (
                f"{row['from']:.1f} to {row['from'] + 0.1:.1f}",
                row["number"],
                f"{100 * row['sure']:.0f} %",
                f"{100 * row['right']:.0f} %",
            )
            for row in reliability(sure, right)
        ),
    )


# --- Corpora ------------------------------------------------------------------------------------


def safe(name: str) -> str:
    """Return a name that can be part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-")


def graphs_of(database: Any, corpus: str) -> set[str] | None:
    """Return which graphs a corpus has, by what `connect` calls them; None where it is not there.

    A graph whose passages are not all connected counts as missing.
    """
    found = database.read("inspect/corpus", corpus=corpus)
    if not found or not found[0]["passages"]:
        return None
    names = {"keywords": "tfidf", "entities": "entity", "similarity": "knn-st", "mdr": "knn-mdr"}
    whole = not found[0]["unconnected"]
    return {names[name] for name in found[0]["connected"]} if whole else set()


# --- Results ------------------------------------------------------------------------------------


def machine() -> dict[str, Any]:
    """Return what figures depend on beside the data: cores, memory, versions, and the date."""
    memory = None
    if hasattr(os, "sysconf"):
        memory = round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)
    return {
        "date": date.today().isoformat(),
        "cores": os.cpu_count(),
        "memory_gib": memory,
        "architecture": platform.machine(),
        "python": platform.python_version(),
    }


def described() -> str:
    """Return the machine and the date in a line."""
    made = machine()
    return (
        f"{made['date']}, {made['cores']} cores ({made['architecture']}), {made['memory_gib']} GiB"
    )


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
        return "-" if value is None else f"{value:,.1f}" if isinstance(value, float) else str(value)

    lines = [f"| {' | '.join(map(cell, row))} |" for row in (header, *rows)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]])


def keep(out: Path, name: str, result: Mapping[str, Any]) -> Path:
    """Write figures to results/NAME.json, with the machine, and return the file."""
    path = out / "results" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps({"machine": machine(), **result}, indent=1) + "\n", encoding="utf-8")
    part.replace(path)
    return path


def kept(out: Path, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `keep` wrote where it was made with the same settings, else nothing."""
    path = out / "results" / f"{name}.json"
    if not path.is_file():
        return {}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found if found.get("settings") == json.loads(json.dumps(settings)) else {}


def pyplot() -> Any:
    """Return matplotlib's pyplot, set to write SVG; ends the program where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        sys.exit('matplotlib draws the plots: pip install "kgp-neo4j[plots]"')
    matplotlib.use("svg")
    # The same figures, the same file.
    matplotlib.rcParams |= {
        "svg.hashsalt": "kgp-neo4j",
        "svg.fonttype": "none",  # text as text: smaller files
        "font.size": 9,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.alpha": 0.3,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
    }
    from matplotlib import pyplot as made

    return made


def picture(out: Path, name: str, figure: Any) -> Path:
    """Write a figure to plots/NAME.svg and return the file."""
    path = out / "plots" / f"{name}.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    return path
