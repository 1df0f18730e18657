"""Measure how load, connect and questions grow with the number of passages.

    python benchmarks/growth.py FOLDER --score score.py --sizes 10000,30000,100000,300000,1000000

The first passages are the gold ones of the questions (HotpotQA's dev), then come the others of the
three sets in seeded order, OTT-QA's, and copies of them all in which every name is another one (its
letters move on in the alphabet), so that no two are the same; a document is one passage. Each size
has a server of its own in --out, started empty and deleted afterwards. Questions are asked one
after the other, then again. A row is written to `growth.jsonl` after each size, and `growth.svg`
is drawn of all rows there (needs matplotlib).
"""

import json
import os
import random
import re
import resource
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import _common as common

_NAME, _WORD = re.compile(r"\b[A-Z]\w+"), re.compile(r"\b[a-z]+\b")
_LETTERS = ("aeiouy", "bcdfghjklmnpqrstvwxz")
#: The lines of the plot, by the fields of a row.
_DRAWN = {
    "seconds": ("load", "connect"),
    "milliseconds of a question": ("p50", "p50 again"),
    "MB": ("python", "server", "disk"),
    "R@5 of HotpotQA": ("R@5",),
}


def real_passages(data: Path, gold: set[str], seed: int) -> list[common.Record]:
    """Return the distinct passages of all sets: those of `gold` titles first, OTT-QA's last."""
    rows = {}
    for path in sorted(data.glob("*/corpus.jsonl.gz")):
        for row in common.read_lines(path):
            rows[row["title"], row["text"]] = {"title": row["title"], "text": row["text"]}
    order = list(rows.values())
    random.Random(seed).shuffle(order)
    order.sort(key=lambda row: row["title"] not in gold)
    for row in common.read_lines(data / "ottqa" / "passages.jsonl.gz"):
        title = row["link"].removeprefix("/wiki/").replace("_", " ")
        if row["text"].strip() and (title, row["text"]) not in rows:
            order.append({"title": title, "text": row["text"]})
    return order


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

    def renamed(found: re.Match[str]) -> str:
        word = found[0]
        return word if word.lower() in common_words else "".join(moved(c, copy) for c in word)

    title, text = (_NAME.sub(renamed, row[key]) for key in ("title", "text"))
    # A title of common words and numbers alone gets one more number.
    return {"title": title if title != row["title"] else f"{title} {copy + 1}", "text": text}


def moved(letter: str, by: int) -> str:
    """Return the letter so many places on among the vowels, or among the consonants."""
    for letters in _LETTERS:
        if (at := letters.find(letter.lower())) >= 0:
            new = letters[(at + by) % len(letters)]
            return new.upper() if letter.isupper() else new
    return letter


def measure(passages: Path, questions: Path, given: Any, home: Path) -> common.Record:
    """Load, connect and ask on a new server; return the figures."""
    shutil.rmtree(home, ignore_errors=True)
    os.environ["KGP_NEO4J_HOME"] = str(home.absolute())
    os.environ.pop("NEO4J_URI", None)
    try:
        # The server's start is not part of what is measured.
        common.kgp("server", "start", *(("--memory", given.memory) if given.memory else ()))
        _, load = common.kgp("load", str(passages), "--corpus", "growth")
        report, connect = common.kgp("connect", "--corpus", "growth", "--json")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        out = home / "run.jsonl"
        asked = ("retrieve", str(questions), "--corpus", "growth", "--out", str(out), "--json")
        first, again = (1000 * json.loads(common.kgp(*asked)[0])["p50"] for _ in range(2))
        server = json.loads(common.kgp("server", "status", "--json")[0])["pid"]
        table = common.scorer(given.score).score(str(questions), str(out))[0].values()
        row = {"load": load, "connect": connect, "p50": first, "p50 again": again}
        row |= {"python": peak, "server": common.peak_memory(server)}
        row |= {"R@5": 100 * common.mean(each["recall@5"] for each in table)}
        row |= {"steps": json.loads(report)["seconds"], "on": common.described()}
    finally:
        common.kgp("server", "stop")
    files = [path for path in (home / "data" / "databases").rglob("*") if path.is_file()]
    return row | {"disk": sum(path.stat().st_size for path in files) / 1e6}


def draw(rows: list[common.Record], file: Path) -> None:
    """Draw what was measured against the number of passages."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(9, 6), layout="constrained")
    sizes = [row["size"] for row in rows]
    for axis, (title, names) in zip(axes.flat, _DRAWN.items(), strict=True):
        for name in names:
            axis.plot(sizes, [row[name] for row in rows], "o-", ms=3, lw=1, label=name)
        axis.set(title=title, xscale="log", yscale="linear" if "R@5" in names else "log")
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=7)
        axis.minorticks_off()
        axis.legend(fontsize=7)
    axes.flat[-1].set_ylim(0, 105)
    figure.suptitle(f"Growth; {rows[-1]['on']}", fontsize=10)
    figure.savefig(file)


def main() -> None:
    """Measure every size, and print the table."""
    parser = common.parser(__doc__, 200)
    parser.add_argument("--score", type=Path, required=True, help="a scorer: score.py GOLD RUN")
    parser.add_argument("--sizes", type=common.words, default=["10000", "30000", "100000"])
    parser.add_argument("--memory", metavar="SIZE", help="of the server, as `server start` has it")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/runs/growth"))
    given = parser.parse_args()
    dev = common.questions_of(given.folder / "hotpotqa/dev.jsonl.gz", given.questions, given.seed)
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
    names = [name for names in _DRAWN.values() for name in names]
    header = ["", *(f"{row['size']:,}" for row in rows)]
    print(common.markdown(header, [[name, *(row[name] for row in rows)] for name in names]))
    draw(rows, given.out / "growth.svg")


if __name__ == "__main__":
    main()
