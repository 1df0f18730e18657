"""How well the offline classifier tells structural questions from questions about content.

    python benchmarks/question_type.py ../shared/data

On PDFTriage's 914 questions (Saad-Falcon et al. 2023; CC BY-NC-SA 4.0, so only measured: nothing
that ships was trained on them, though a few errors led to a more general rule) and on the multi-hop
questions of HotpotQA, 2WikiMultihopQA and MuSiQue, none of which is about structure.

Two truths are compared with. By label, a question is structural if its annotators filed it under
"the structure of the document", "a table" or "a figure", and about content otherwise. The labels
say what annotators were told to ask for, not what they asked: "Who is stand up for students?" is
filed under tables, and "What is the main difference between pages 2 and 3?" under questions that
need several parts. So by text, a question is structural if it names a part of a document by number,
place or name, as the word list below has it, whatever its label. `both` counts as structural.
No corpus is read: the signs are those of the question alone, as for a corpus whose tables have no
column that it names and no caption that it speaks of.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import _common as common

from kgp_neo4j.corpus.tables.choose import choose
from kgp_neo4j.corpus.tables.references import read_references
from kgp_neo4j.corpus.tables.signs import decision, signs

_LABELLED = ("structure of the document", "about a table", "about a figure")
#: Words that name a part of a document. Written apart from the classifier, and coarser.
_PARTS = re.compile(
    r"\bpages?\b|\btables?\b|\b(?:row|column|figure|fig|section|sec|chapter|paragraph|appendix|"
    r"part)s?"
    r"\.?\s*(?:[0-9]|[A-Z]\b|[IVX]+\b|one\b|two\b|three\b)|\b(?:section|paragraph|heading|header|"
    r"chart|graph|diagram|figure|column|row)s?\b",
    re.IGNORECASE,
)


def said(question: str) -> str:
    """Return the type that the words of a question speak for."""
    made = read_references(question, ())
    look = choose(made)
    return decision(made, look, signs(made, look, lambda _: False)).type


def figures(pairs: list[tuple[bool, bool]]) -> dict[str, float]:
    """Return accuracy, precision and recall in per cent of (truth, said) pairs."""
    counts = Counter(pairs)
    hit, missed = counts[True, True], counts[True, False]
    wrong, rest = counts[False, True], counts[False, False]
    return {
        "questions": len(pairs),
        "accuracy": round(100 * (hit + rest) / len(pairs), 1),
        "precision": round(100 * hit / max(1, hit + wrong), 1),
        "recall": round(100 * hit / max(1, hit + missed), 1),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="holds pdftriage/ and the multi-hop sets")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--errors", action="store_true", help="print where text and type differ")
    given = parser.parse_args()
    by_label, by_text = [], []
    types: dict[str, Counter[str]] = defaultdict(Counter)
    for row in common.read_lines(given.folder / "pdftriage/question_filtered.jsonl"):
        type_ = said(row["text"])
        types[row["category"]][type_] += 1
        named = bool(_PARTS.search(row["text"]))
        by_label.append((any(label in row["category"] for label in _LABELLED), type_ != "content"))
        by_text.append((named, type_ != "content"))
        if given.errors and named != (type_ != "content"):
            print(f"{type_:10} {row['text'][:160]}")
    wrong: dict[str, list[str]] = {}
    asked: dict[str, int] = {}
    for name in ("hotpotqa", "2wiki", "musique"):
        for split in ("train", "dev"):
            rows = common.read_lines(given.folder / name / f"{split}.jsonl.gz")
            asked[name] = asked.get(name, 0) + len(rows)
            wrong.setdefault(name, []).extend(
                row["question"] for row in rows if said(row["question"]) != "content"
            )
    result = {
        "pdftriage by label": figures(by_label),
        "pdftriage by text": figures(by_text),
        "pdftriage types by category": {name: dict(found) for name, found in types.items()},
        "multi-hop questions taken as structural": {
            name: f"{len(wrong[name])} of {asked[name]}" for name in asked
        },
        "examples": [question for found in wrong.values() for question in found][:10],
    }
    if given.json:
        print(json.dumps(result, indent=1))
        return
    rows = [[name, *found.values()] for name, found in list(result.items())[:2]]  # type: ignore[attr-defined]
    print(common.markdown(["", "questions", "accuracy", "precision", "recall"], rows))
    total, of = sum(map(len, wrong.values())), sum(asked.values())
    print(
        f"\n{total} of {of:,} multi-hop questions ({100 * total / of:.2f} %) are taken as "
        f"structural"
    )


if __name__ == "__main__":
    main()
