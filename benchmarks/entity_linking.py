"""Precision, recall and F1 of entity linking with the texts' own titles as the dictionary.

    python benchmarks/entity_linking.py ../shared/data/entity_linking

A data set is a file of ELEVANT's form, one text a line with its mentions. The names of all entities
that its labels mean are the dictionary; labels of unknown entities are left out, and so is what the
linker finds there. A mention counts where span and entity are both right, over all texts together.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kgp_neo4j.corpus.connect.entities.linker import EntityLinker, LinkerSettings

VARIANTS = {
    "whole names, commonness": LinkerSettings(coherence=False, coreferent_names=False),
    "+ coherence": LinkerSettings(coreferent_names=False),
    "+ last names of people named in full (default)": LinkerSettings(),
    "+ parts of names": LinkerSettings(partial_names=True),
}

Gold = dict[tuple[int, int], str]


@dataclass(frozen=True)
class Scores:
    """Right mentions, mentions found, and mentions there are."""

    right: int
    found: int
    there: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.there if self.there else 0.0

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def read(path: Path) -> tuple[list[str], list[Gold], list[set[tuple[int, int]]], dict[str, str]]:
    """Return texts, their mentions, the spans of unknown entities, and the dictionary."""
    texts, gold, unknown = [], [], []
    names: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        known: Gold = {}
        other = set()
        for label in row["labels"]:
            span = (label["span"][0], label["span"][1])
            if label["entity_id"].startswith("Q"):
                known[span] = label["entity_id"]
                names[label["entity_id"]] = label["name"]
            else:
                other.add(span)
        texts.append(row["text"])
        gold.append(known)
        unknown.append(other)
    return texts, gold, unknown, names


def score(
    linker: EntityLinker, texts: Sequence[str], gold: Sequence[Gold], unknown: Sequence[set]
) -> Scores:
    """Compare what the linker finds with the labels."""
    right = found = 0
    for mentions, known, other in zip(linker.link(texts), gold, unknown, strict=True):
        for mention in mentions:
            span = (mention.start, mention.end)
            if span in other:
                continue
            found += 1
            right += known.get(span) == mention.entity
    return Scores(right, found, sum(map(len, gold)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with *.benchmark.jsonl in it")
    given = parser.parse_args()
    print("| set | texts | mentions | titles | linker | precision | recall | F1 | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for path in sorted(given.folder.glob("*.benchmark.jsonl")):
        texts, gold, unknown, names = read(path)
        for name, settings in VARIANTS.items():
            began = time.perf_counter()
            linker = EntityLinker(sorted(names.items()), settings=settings)
            made = score(linker, texts, gold, unknown)
            seconds = time.perf_counter() - began
            print(
                f"| {path.name.split('.')[0]} | {len(texts)} | {made.there} | {len(names)} "
                f"| {name} "
                f"| {100 * made.precision:.1f} | {100 * made.recall:.1f} | {100 * made.f1:.1f} "
                f"| {seconds:.2f} |"
            )


if __name__ == "__main__":
    main()
