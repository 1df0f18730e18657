"""WikiTableQuestions, as the benchmarks of questions over tables read it."""

import gzip
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Asked:
    """A question, the table it is about, and the values expected."""

    id: str
    text: str
    table: str
    values: tuple[str, ...]


def read_questions(folder: Path, split: str) -> list[Asked]:
    """Return the questions of a split: `dev`, `train`, or a file's name without `.tsv.gz`."""
    paths = [folder / f"{begin}{split}.tsv.gz" for begin in ("random-split-1-", "")]
    found = [path for path in paths if path.is_file()]
    if not found:
        sys.exit(f"{folder} has no questions {split}")
    with gzip.open(found[0], "rt", encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")[1:]
    rows = [line.split("\t") for line in lines if line]
    return [
        Asked(id_, _unescaped(text), table, tuple(_unescaped(v) for v in values.split("|")))
        for id_, text, table, values in rows
    ]


def _unescaped(text: str) -> str:
    return text.replace(r"\n", "\n").replace(r"\p", "|").replace("\\\\", "\\")


def unpack(folder: Path, to: Path, wanted: set[str]) -> list[Path]:
    """Unpack the wanted tables and return their files."""
    with tarfile.open(folder / "tables_csv.tar.gz") as packed:
        members = [m for m in packed.getmembers() if m.name.removeprefix("./") in wanted]
        packed.extractall(to, members, filter="data")
    return [to / m.name for m in members]
