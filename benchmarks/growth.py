"""Measure how load, connect and questions grow with the number of passages.

    python benchmarks/growth.py FOLDER --score score.py --sizes 10000,30000,100000,300000,1000000

The first passages are the gold ones of the questions (HotpotQA's dev), then come the others of the
three sets in seeded order, OTT-QA's, and copies of them all in which every name is another one (its
letters move on in the alphabet), so that no two are the same; a document is one passage. Each size
has a server of its own in --out, started empty and deleted afterwards. Questions are asked one
after the other, then again. A row is written to `growth.jsonl` after each size; all rows there are
printed as a table.
"""

import json
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import _common as common

from kgp_neo4j.evaluate.scores import draw

_NAME, _WORD = re.compile(r"\b[A-Z]\w+"), re.compile(r"\b[a-z]+\b")
_LETTERS = ("aeiouy", "bcdfghjklmnpqrstvwxz")
#: What is shown of a row: seconds, milliseconds of a question, MB, and R@5 of HotpotQA.
_SHOWN = ("load", "connect", "p50", "p50 again", "python", "server", "disk", "R@5")


def real_passages(data: Path, gold: set[str], seed: int) -> list[common.Record]:
    """Return the distinct passages of all sets: those of `gold` titles first, OTT-QA's last."""
    rows = common.read_lines(*sorted(data.glob("*/corpus.jsonl.gz")))
    order = list({(row["title"], row["text"]): None for row in rows})
    random.Random(seed).shuffle(order)
    order.sort(key=lambda passage: passage[0] not in gold)
    known = set(order)
    for row in common.read_lines(data / "ottqa/passages.jsonl.gz"):
        one = row["link"].removeprefix("/wiki/").replace("_", " "), row["text"]
        order += [one] if one[1].strip() and one not in known else []
    return [{"title": title, "text": text} for title, text in order]


def of_size(real: list[common.Record], size: int) -> Iterator[common.Record]:
    """Yield so many passages: the real ones, then copies with other names."""
    small = Counter(word for row in real for word in _WORD.findall(row["text"]))
    capital = Counter(word.lower() for row in real for word in _NAME.findall(row["text"]))
    # Grant may be a name though somebody may grant; "However" begins many sentences.
    common_words = {word for word in small if 4 * small[word] >= capital[word]}
    for place in range(size):
        copy, at = divmod(place, len(real))
        yield varied(real[at], copy, common_words) if copy else real[at]


def varied(row: common.Record, copy: int, common_words: set[str]) -> common.Record:
    """Return a passage whose names are others; the same name becomes the same one everywhere."""
    letters = "".join(_LETTERS)
    moved = "".join(each[copy % len(each) :] + each[: copy % len(each)] for each in _LETTERS)
    table = str.maketrans(letters + letters.upper(), moved + moved.upper())

    def renamed(found: re.Match[str]) -> str:
        return found[0] if found[0].lower() in common_words else found[0].translate(table)

    title, text = (_NAME.sub(renamed, row[key]) for key in ("title", "text"))
    # A title of common words and numbers alone gets one more number.
    return {"title": title if title != row["title"] else f"{title} {copy + 1}", "text": text}


def measure(passages: Path, questions: Path, given: Any, home: Path) -> common.Record:
    """Load, connect and ask on a new server; return the figures."""
    shutil.rmtree(home, ignore_errors=True)
    os.environ["KGP_NEO4J_HOME"] = str(home.absolute())
    os.environ.pop("NEO4J_URI", None)
    try:
        # The server's start is not part of what is measured.
        common.kgp("server", "start", *(("--memory", given.memory) if given.memory else ()))
        load, connect, report = common.connected(passages, "growth")
        python, _ = common.peaks()
        out = home / "run.jsonl"
        asked = [common.retrieved(questions, "growth", out, given.score) for _ in range(2)]
        first, again = (1000 * each["p50"] for each in asked)
        row = {"load": load, "connect": connect, "p50": first, "p50 again": again}
        row |= {"python": python, "server": common.peaks()[1], "R@5": asked[1]["recall@5"]}
        row |= {"steps": report["seconds"], "on": common.described()}
    finally:
        common.kgp("server", "stop")
    files = [path for path in (home / "data" / "databases").rglob("*") if path.is_file()]
    return row | {"disk": sum(path.stat().st_size for path in files) / 1e6}


def main() -> None:
    """Measure every size, and print the table."""
    parser = common.parser(__doc__, 200)
    parser.add_argument("--score", type=common.scorer, required=True, help="has score(GOLD, RUN)")
    parser.add_argument("--sizes", type=common.words, default=["10000", "30000", "100000"])
    parser.add_argument("--memory", metavar="SIZE", help="of the server, as `server start` has it")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/runs/growth"))
    given = parser.parse_args()
    dev = common.read_lines(given.folder / "hotpotqa/dev.jsonl.gz")
    dev = draw(dev, given.questions, given.seed)
    questions = Path(common.write_lines(given.out / "questions.jsonl", dev))
    gold = {title for question in dev for title, _ in question["supporting_facts"]}
    real = real_passages(given.folder, gold, given.seed)
    kept = given.out / "growth.jsonl"
    for size in map(int, given.sizes):
        common.say(f"{size:,} passages")
        file = Path(common.write_lines(given.out / "corpus.jsonl", of_size(real, size)))
        row = {"size": size, **measure(file, questions, given, given.out / "home")}
        with kept.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")
    shutil.rmtree(given.out / "home", ignore_errors=True)
    rows = sorted(common.read_lines(kept), key=lambda row: row["size"])
    header = ["", *(f"{row['size']:,}" for row in rows)]
    print(common.markdown(header, [[name, *(row[name] for row in rows)] for name in _SHOWN]))


if __name__ == "__main__":
    main()
