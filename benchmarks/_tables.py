"""WikiTableQuestions: its questions and tables are read, and values compared as it does."""

import gzip
import re
import sys
import tarfile
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kgp_neo4j.text.values import MONTHS

_QUOTES = str.maketrans("‘’´`“”‐‑‒–—−", "''''\"\"------")
_NOTES = re.compile(r"(?:(?<!^)\[[^\]]*\]|\[\d+\]|[•♦†‡*#+])*$")
_DETAILS = re.compile(r"(?<!^)(?: \([^)]*\))*$")
_QUOTED = re.compile(r'"([^"]*)"')
_DATE = re.compile(r"(\d{4}|xxxx)-(\d{1,2}|xx)-(\d{1,2}|xx)")
_WRITTEN = re.compile(r"(?:([a-z]{3,9})\.? (\d{1,2})|(\d{1,2}) ([a-z]{3,9})),? (\d{4})")
_Date = tuple[str, str, str]


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


def same_values(given: Iterable[str], expected: Iterable[str]) -> bool:
    """Return whether two lists have the same values (Pasupat and Liang 2015, the evaluator)."""
    return _values(given) == _values(expected)


def _values(texts: Iterable[str]) -> frozenset[str | float | _Date]:
    return frozenset(_value(_normal(text)) for text in texts)


def _normal(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text)
    text = "".join(c for c in parts if unicodedata.category(c) != "Mn").translate(_QUOTES)
    before = None
    while before != text:
        before = text
        text = _NOTES.sub("", text.strip())
        text = _DETAILS.sub("", text.strip()).strip()
        if found := _QUOTED.fullmatch(text):
            text = found[1]
    return re.sub(r"\s+", " ", text.removesuffix(".")).lower().strip()


def _value(text: str) -> str | float | _Date:
    if re.fullmatch(r"-?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d*)?|-?\.\d+", text):
        return round(float(text.replace(",", "")), 6)
    if found := _DATE.fullmatch(text):
        year, month, day = (part.lstrip("0") for part in found.groups())
        return year, month, day
    if found := _WRITTEN.fullmatch(text):
        month = MONTHS.get(found[1] or found[4])
        if month:
            return found[5], str(month), (found[2] or found[3]).lstrip("0")
    return text
