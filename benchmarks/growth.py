"""Measure how load, connect and questions grow with the number of passages.

Examples:
  python benchmarks/growth.py
  python benchmarks/growth.py --embeddings random
  python benchmarks/growth.py --sizes 1000,3000 --questions 30
  python benchmarks/growth.py --sizes 10000,30000,100000 --resume --to 1000000
  python benchmarks/growth.py --sizes 1000 --beside 100000

DATA holds folders with corpus.jsonl.gz (../shared/data: HotpotQA, 2WikiMultihopQA and MuSiQue),
hotpotqa/dev.jsonl.gz and ottqa/passages.jsonl.gz. A corpus of N passages is the first N of one
seeded order: the gold passages of the questions, then all others of the three sets, then those of
OTT-QA, then varied copies of them all, in which every name is turned into another one (its letters
move on in the alphabet), so that no two passages are the same. What a copy keeps are its common
words and its numbers. A document is one passage.

Questions are HotpotQA's: one after the other, the same again with their pages in memory, then by 4
and by 16 clients at once. R@5 is the share of their gold passages among the first five. --to N adds
what the figures would be at N passages if they went on as a power of their number; nothing was
measured there.

Every size has an embedded server of its own, started empty and removed afterwards; NEO4J_URI plays
no part. --embeddings random writes random unit vectors instead of encoding the passages, which
takes time in proportion to their number: the encoder is then timed on 300 passages alone. Random
vectors have no near neighbours, so the KNN graph differs from a real one.

With --beside N the corpora of --sizes are asked once alone and once beside another corpus of N such
passages on the same server, and what they find is compared; both have random vectors.

Prints Markdown tables; writes results/growth.json (growth-random.json) after every size, and
plots/growth.svg (growth-random.svg).
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import _common as common

_CORPUS = "growth"
_OTTQA = "ottqa/passages.jsonl.gz"
#: How many ask at once, after the questions that are asked one after the other.
_CLIENTS = (4, 16)
#: Passages and questions that come first and are not measured.
_FIRST = 200
_WARM_UP = 20
_TIMED_BY_ENCODER = 300
_NAME = re.compile(r"\b[A-Z]\w+")
_WORD = re.compile(r"\b[a-z]+\b")
_CONSONANTS, _VOWELS = "bcdfghjklmnpqrstvwxz", "aeiouy"
#: The lines of the plot, and the steps of `connect` that make them up.
PARTS = {
    "load": ("load",),
    "keywords": ("extract keywords", "write keywords", "shared-keyword edges"),
    "entities": ("link entities", "write mentions", "shared-entity edges"),
    "embeddings": ("embed", "write embeddings"),
    "similarity": ("similarity edges",),
}


# --- The passages -------------------------------------------------------------------------------


def passages(data: Path, records: Sequence[common.Record], seed: int) -> list[common.Record]:
    """Return the distinct passages of all sets: those that are gold first, OTT-QA's last.

    The others are in seeded order. A record is {"title", "text"}.
    """
    rows = {}
    for path in sorted(data.glob("*/corpus.jsonl.gz")):
        for row in common.read_lines(path):
            rows[row["title"], row["text"]] = {"title": row["title"], "text": row["text"]}
    wanted: dict[str, common.Gold] = {}
    for record in records:
        for title, text in common.gold_of(record):
            wanted.setdefault(title, []).append((title, text))
    order = list(rows.values())
    random.Random(seed).shuffle(order)
    order.sort(
        key=lambda row: not common.is_gold(wanted.get(row["title"], []), row["title"], row["text"])
    )
    for row in common.read_lines(data / _OTTQA):
        title = row["link"].removeprefix("/wiki/").replace("_", " ")
        if row["text"].strip() and (title, row["text"]) not in rows:
            order.append({"title": title, "text": row["text"]})
    return order


def of_size(real: Sequence[common.Record], size: int) -> Iterator[common.Record]:
    """Yield so many passages: the real ones, then copies with other names."""
    small: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    for row in real:
        small.update(_WORD.findall(row["text"]))
        capital.update(word.lower() for word in _NAME.findall(row["text"]))
    # Grant may be a name though somebody may grant; "However" begins many sentences.
    common_words = {word for word in small if 4 * small[word] >= capital[word]}
    for place in range(size):
        copy, at = divmod(place, len(real))
        yield real[at] if not copy else varied(real[at], copy, common_words)


def varied(row: common.Record, copy: int, common_words: set[str]) -> common.Record:
    """Return a passage whose names are others; the same name becomes the same one everywhere."""

    def renamed(found: re.Match[str]) -> str:
        word = found[0]
        if word.lower() in common_words:
            return word
        return "".join(_moved(letter, copy) for letter in word)

    title, text = (_NAME.sub(renamed, row[key]) for key in ("title", "text"))
    # A title of common words and numbers alone gets one more number.
    return {"title": title if title != row["title"] else f"{title} {copy + 1}", "text": text}


def _moved(letter: str, by: int) -> str:
    for letters in (_VOWELS, _CONSONANTS):
        at = letters.find(letter.lower())
        if at >= 0:
            new = letters[(at + by) % len(letters)]
            return new.upper() if letter.isupper() else new
    return letter


# --- One size -----------------------------------------------------------------------------------


@contextmanager
def empty_server(home: Path) -> Iterator[Any]:
    """Start an embedded server with an empty database; yield its folders and the database."""
    from kgp_neo4j.environment.folders import Folders
    from kgp_neo4j.graphdb import server
    from kgp_neo4j.graphdb.database import Database
    from kgp_neo4j.graphdb.install import install

    folders = Folders.from_environment(home.absolute())
    server.stop(folders)
    shutil.rmtree(home, ignore_errors=True)
    try:
        with Database(server.ensure(folders)) as database:
            install(database)
            yield folders, database
    finally:
        server.stop(folders)


def indexed(database: Any, corpus: str, file: str, drawn: bool, seed: int) -> dict[str, Any]:
    """Load and connect a corpus; return the seconds of each step and what was made."""
    from kgp_neo4j.corpus.connect.graphs import connect
    from kgp_neo4j.corpus.load.loading import load

    account = load(database, [file], corpus)
    seconds = {"load": account.seconds}
    if drawn:
        began = time.perf_counter()
        write_random(database, corpus, seed)
        seconds["write embeddings"] = time.perf_counter() - began
    report = connect(database, corpus)
    for step, took in report.seconds.items():
        name = "connect" if step == "all" else step
        seconds[name] = seconds.get(name, 0.0) + took
    if drawn:  # what stands for encoding is a part of connecting
        seconds["connect"] += seconds["write embeddings"]
    return {
        "passages": account.passages,
        "seconds": {step: round(took, 3) for step, took in seconds.items()},
        "keywords": report.keywords,
        "mentions": report.mentions,
        "entities": report.entities,
        "shared_keyword_edges": report.shared_keyword_edges,
        "shared_entity_edges": report.shared_entity_edges,
        "similarity_edges": report.similarity_edges,
    }


def measured(
    file: str,
    questions: list[common.Record],
    home: Path,
    drawn: bool,
    seed: int,
    time_encoder: bool,
) -> dict[str, Any]:
    """Load, connect and ask in a process and a server of their own; return the figures.

    A small corpus comes first and is deleted again: a server that has just started is slow, which
    would make the small sizes look worse than they are.
    """
    from kgp_neo4j.corpus.load.delete import delete_corpus
    from kgp_neo4j.graphdb import server

    with empty_server(home) as (folders, database):
        with Path(file).open(encoding="utf-8") as lines:  # not all: memory is measured
            rows = [json.loads(line) for line in itertools.islice(lines, _FIRST)]
        indexed(database, "first", common.write_lines(home / "first.jsonl", rows), True, seed)
        ask(database, "first", questions[: 2 * _WARM_UP])
        delete_corpus(database, "first")
        result = indexed(database, _CORPUS, file, drawn, seed)
        asked = ask(database, _CORPUS, questions)
        times, again = asked.pop("seconds_of_questions"), asked.pop("seconds_asked_again")
        result |= asked | {
            "p50_seconds": common.quantile(times, 0.5),
            "p95_seconds": common.quantile(times, 0.95),
            "p50_again_seconds": common.quantile(again, 0.5),
            "p95_again_seconds": common.quantile(again, 0.95),
            "python_peak_mb": common.peak_memory("self"),
            "server_peak_mb": common.peak_memory(server.status(folders).pid),
        }
        if time_encoder:
            result["encoder_passages_per_second"] = encoder_speed(file)
    # A server that was stopped has written everything to its files.
    files = (path for path in (home / "data" / "databases").rglob("*") if path.is_file())
    result["database_mb"] = round(sum(path.stat().st_size for path in files) / 1e6, 1)
    return result


def write_random(database: Any, corpus: str, seed: int) -> None:
    """Give every passage a random unit vector, as if the default encoder had made it."""
    import numpy as np

    from kgp_neo4j.corpus.connect.steps import write_rows
    from kgp_neo4j.models.encoder import load_encoder
    from kgp_neo4j.models.pretrained import DEFAULT_ENCODER

    size = load_encoder().dimension
    database.write("connect/encoder", corpus=corpus, encoder=DEFAULT_ENCODER, dimension=size)
    generator = np.random.default_rng(seed)

    def rows() -> Iterator[dict[str, Any]]:
        for row in database.read("connect/unembedded", corpus=corpus):
            vector = generator.standard_normal(size)
            yield {"id": row["id"], "vector": (vector / np.linalg.norm(vector)).tolist()}

    write_rows(database, "connect/embeddings", rows(), 2000, None)


def ask(database: Any, corpus: str, questions: Sequence[common.Record]) -> dict[str, Any]:
    """Return the seconds of questions, their R@5, and questions a second by clients at once.

    The first questions warm the server up and do not count.
    """
    from kgp_neo4j.corpus.retrieve import PassageRetriever

    retriever = PassageRetriever(database, corpus)
    asked = [common.asked(record) for record in questions]
    for question in asked[:_WARM_UP]:
        retriever.retrieve(question)
    questions, asked = questions[_WARM_UP:], asked[_WARM_UP:]
    began = time.perf_counter()
    made = [retriever.retrieve(question) for question in asked]
    rates = {1: len(asked) / (time.perf_counter() - began)}
    again = [retriever.retrieve(question).seconds for question in asked]
    for clients in _CLIENTS:
        began = time.perf_counter()
        with ThreadPoolExecutor(clients) as pool:
            list(pool.map(retriever.retrieve, asked * 2))
        rates[clients] = 2 * len(asked) / (time.perf_counter() - began)
    return {
        "seconds_of_questions": [each.seconds for each in made],
        "seconds_asked_again": again,
        "recall_at_5": 100 * common.mean(map(recall, questions, made)),
        "questions_per_second": {str(clients): round(rate, 2) for clients, rate in rates.items()},
    }


def recall(record: common.Record, found: Any) -> float:
    """Return the share of a question's gold passages among the first five that were found."""
    gold, first = common.gold_of(record), found.passages[:5]
    return common.mean(any(common.is_gold([one], p.title, p.text) for p in first) for one in gold)


def encoder_speed(file: str) -> float:
    """Return how many passages a second the encoder embeds, on some of the file's."""
    from kgp_neo4j.models.encoder import load_encoder
    from kgp_neo4j.models.mdr import passage_text

    rows = common.read_lines(Path(file))[:_TIMED_BY_ENCODER]
    texts = [passage_text(row["title"], row["text"]) for row in rows]
    began = time.perf_counter()
    load_encoder().encode(texts)
    return round(len(texts) / (time.perf_counter() - began), 1)


def reported(*given: Any) -> dict[str, Any]:
    """Return what `measured` returns, or its error as text: that passes between processes."""
    from kgp_neo4j.types.errors import KgpError

    try:
        return measured(*given)
    except KgpError as error:
        return {"error": str(error)}


# --- Beside another corpus ----------------------------------------------------------------------


def beside(real: list[common.Record], questions: list[common.Record], given: Any) -> None:
    """Print what questions to a corpus find and take, alone and beside a large one."""
    from kgp_neo4j.corpus.load.delete import delete_corpus
    from kgp_neo4j.corpus.load.loading import load

    rows = []
    runs = given.out / "runs"
    with empty_server(runs / "beside") as (_, database):
        for size in given.sizes:
            file = common.write_lines(runs / "small.jsonl", of_size(real, size))
            indexed(database, f"small-{size}", file, True, given.seed)
        alone = {size: found(database, f"small-{size}", questions) for size in given.sizes}
        file = common.write_lines(runs / "large.jsonl", of_size(real, given.beside))
        common.say(f"{given.beside:,} passages beside")
        load(database, [file], "large")
        write_random(database, "large", given.seed)
        # As `connect` makes it once all vectors are there.
        database.make_indexes("load/own_indexes", corpus="large")
        database.read("install/await_indexes")
        database.write("connect/finish", corpus="large", graph="similarity", settings="{}")
        for size in given.sizes:
            for name, (passages, times) in (
                ("alone", alone[size]),
                (f"beside {given.beside:,}", found(database, f"small-{size}", questions)),
            ):
                same = sum(a == b for a, b in zip(passages, alone[size][0], strict=True))
                spread = [1000 * common.quantile(times, share) for share in (0.5, 0.95)]
                rows.append([f"{size:,}", name, *spread, f"{same} of {len(passages)}"])
        began = time.perf_counter()
        delete_corpus(database, "large")
        took = time.perf_counter() - began
    print(common.markdown(["passages", "", "p50 ms", "p95 ms", "same passages"], rows))
    print(f"\nThe other corpus was deleted in {took:.1f} s. {common.described()}")


def found(
    database: Any, corpus: str, questions: Sequence[common.Record]
) -> tuple[list[list[str]], list[float]]:
    """Return the passages of each question in their order, and its seconds."""
    from kgp_neo4j.corpus.retrieve import PassageRetriever

    retriever = PassageRetriever(database, corpus)
    asked = [common.asked(record) for record in questions]
    for question in asked:  # once before: a server that has just started is slow
        retriever.retrieve(question)
    made = [retriever.retrieve(question) for question in asked]
    return [[p.id for p in each.passages] for each in made], [each.seconds for each in made]


# --- All sizes ----------------------------------------------------------------------------------


def part(row: dict[str, Any], name: str) -> float:
    """Return the seconds of a line of the plot; 0 where nothing of it was done."""
    return sum(row["seconds"].get(step, 0.0) for step in PARTS[name])


def exponent(rows: Sequence[dict[str, Any]], value: Any) -> float | None:
    """Return the exponent b of seconds = a * passages ** b, by least squares; 1 is linear."""
    import numpy as np

    points = [(row["passages"], value(row)) for row in rows if value(row) > 0]
    if len(points) < 2:
        return None
    xs, ys = np.log(np.array(points)).T
    return float(np.polyfit(xs, ys, 1)[0])


def draw(rows: Sequence[dict[str, Any]], title: str) -> Any:
    """Return the figure: indexing, a question, memory with disk, and R@5, against passages."""
    plt = common.pyplot()
    from matplotlib.ticker import LogLocator

    figure, ((left, right), (size, found)) = plt.subplots(
        2, 2, figsize=(10, 7), layout="constrained"
    )
    xs = [row["passages"] for row in rows]
    lines = {name: [part(row, name) for row in rows] for name in PARTS}
    lines["load and connect"] = [
        sum(row["seconds"][k] for k in ("load", "connect")) for row in rows
    ]
    for name, ys in lines.items():
        if any(ys):
            style = {"color": "black", "lw": 1.5} if name == "load and connect" else {"lw": 1}
            left.plot(xs, ys, "o-", ms=3, label=name, **style)
    first = lines["load and connect"][0]
    left.plot(xs, [first * x / xs[0] for x in xs], ":", color="grey", lw=1, label="linear")
    for key in ("p95", "p50", "p95_again", "p50_again"):
        ys = [row[f"{key}_seconds"] for row in rows]
        right.plot(xs, ys, "o-", ms=3, lw=1, label=key.replace("_", ", asked "))
    for name, label in (
        ("server_peak_mb", "server's memory"),
        ("python_peak_mb", "Python's memory"),
        ("database_mb", "files"),
    ):
        size.plot(xs, [row[name] for row in rows], "o-", ms=3, lw=1, label=label)
    found.plot(xs, [row["recall_at_5"] for row in rows], "o-", ms=3, lw=1)
    left.set(title="Indexing", ylabel="seconds")
    right.set(title="A question", ylabel="seconds")
    size.set(title="Memory at the peak, files on disk", ylabel="MB")
    found.set(title="R@5 of HotpotQA", ylabel="in 100", ylim=(0, 105))
    for axis in (left, right, size, found):
        axis.set(xscale="log", xlabel="passages")
        axis.set_xticks(xs, [f"{x:,}" for x in xs], fontsize=7)
        axis.minorticks_off()
    for axis in (left, right, size):
        axis.set_yscale("log")
        axis.minorticks_off()
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.legend(fontsize=7)
    left.legend(fontsize=7, loc="lower right")
    figure.suptitle(title, fontsize=10)
    return figure


def main() -> None:
    """Measure every size and print the tables."""
    parser = common.parser(__doc__, 60)
    parser.add_argument(
        "data", type=Path, nargs="?", default=Path("../shared/data"), help="folders of data sets"
    )
    parser.add_argument(
        "--sizes",
        type=common.numbers,
        default=[1000, 3000, 10000, 30000, 100000],
        help="numbers of passages (default: 1000,3000,10000,30000,100000)",
    )
    parser.add_argument(
        "--embeddings",
        choices=("encoder", "random"),
        default="encoder",
        help="made by the default encoder, or random (default: encoder)",
    )
    parser.add_argument(
        "--beside", type=common.positive, help="passages of another corpus on the same server"
    )
    parser.add_argument("--keep", action="store_true", help="leave the databases in runs/growth")
    parser.add_argument("--to", type=common.positive, metavar="N", help="extrapolate to N passages")
    given = parser.parse_args()
    common.pyplot()
    with common.explained():
        grow(given)


def grow(given: argparse.Namespace) -> None:
    """Do what `main` was asked to."""
    sets = sorted(given.data.glob("*/corpus.jsonl.gz"))
    if not sets:
        raise SystemExit(f"{given.data} has no folder with a corpus.jsonl.gz")
    questions = common.questions_of(
        given.data / "hotpotqa" / "dev.jsonl.gz", given.questions + _WARM_UP, given.seed
    )
    real = passages(given.data, questions, given.seed)
    if given.beside:
        beside(real, questions, given)
        return
    name = "growth" if given.embeddings == "encoder" else "growth-random"
    settings = {
        "data": [*(path.parent.name for path in sets), "ottqa"],
        "real_passages": len(real),
        "questions": len(questions) - _WARM_UP,
        "seed": given.seed,
        "embeddings": given.embeddings,
        "budget": common.BUDGET,
    }
    before = common.kept(given.out, name, settings).get("rows", []) if given.resume else []
    known = {row["size"]: row for row in before}
    result: dict[str, Any] = {"settings": settings, "rows": []}
    runs = given.out / "runs"
    for size in given.sizes:
        row = known.get(size)
        if row is None:
            common.say(f"{size:,} passages")
            home = runs / "growth" / str(size)
            file = common.write_lines(runs / f"growth-{size}.jsonl", of_size(real, size))
            random_ones = given.embeddings == "random"
            time_encoder = random_ones and size == given.sizes[0]
            arguments = (file, questions, home, random_ones, given.seed, time_encoder)
            # A process of its own, so that its peak of memory is of this size alone.
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                row = {"size": size, **pool.submit(reported, *arguments).result()}
            Path(file).unlink()
            if not given.keep:
                shutil.rmtree(home, ignore_errors=True)
            if "error" in row:
                raise SystemExit(f"{size:,} passages: {row['error']}")
        result["rows"].append(row)
        common.keep(given.out, name, result)
    show(result, given.to)
    print(f"\n{common.keep(given.out, name, result)}")
    title = f"Growth, {given.embeddings} embeddings; {common.described()}"
    print(common.picture(given.out, name, draw(result["rows"], title)))


def show(result: dict[str, Any], to: int | None) -> None:
    """Print the tables; with `to`, also what would be there at so many passages."""
    rows, settings = result["rows"], result["settings"]
    print(
        f"\n{', '.join(settings['data'])}: {settings['real_passages']:,} distinct passages; beyond "
        f"them come copies in which the names are others. Embeddings: "
        f"{settings['embeddings']}. {common.described()}\n"
    )
    sizes = [f"{row['passages']:,}" for row in rows]
    header = [*sizes, "exponent", *([f"{to:,}, extrapolated"] if to else [])]

    def line(label: str, value: Any) -> list[Any]:
        power = exponent(rows, value)
        last = rows[-1]
        there = to and power and value(last) * (to / last["passages"]) ** power
        return [label, *map(value, rows), power and f"{power:.2f}", *([there] if to else [])]

    steps = list(dict.fromkeys(step for row in rows for step in row["seconds"]))
    steps.sort(key=lambda step: step == "connect")
    cells = [
        line("connect, all steps" if step == "connect" else step,
             lambda row, step=step: row["seconds"].get(step, 0.0))
        for step in steps
        if step == "connect" or max(row["seconds"].get(step, 0.0) for row in rows) >= 0.05
    ]  # fmt: skip
    print(common.markdown(["seconds, by passages", *header], cells))
    speed = rows[0].get("encoder_passages_per_second")
    if speed:
        print(f"\nThe encoder, by itself, embeds {speed} passages a second.")
    print()
    kinds = [
        ("p50 of a question (ms)", lambda r: 1000 * r["p50_seconds"]),
        ("p95 of a question (ms)", lambda r: 1000 * r["p95_seconds"]),
        ("p50, asked again (ms)", lambda r: 1000 * r["p50_again_seconds"]),
        ("p95, asked again (ms)", lambda r: 1000 * r["p95_again_seconds"]),
        *(
            (f"questions a second, {clients} at once",
             lambda r, clients=clients: r["questions_per_second"][clients])
            for clients in rows[0]["questions_per_second"]
        ),
        ("peak memory of Python (MB)", lambda r: r["python_peak_mb"]),
        ("peak memory of the server (MB)", lambda r: r["server_peak_mb"]),
        ("database (MB)", lambda r: r["database_mb"]),
    ]  # fmt: skip
    print(common.markdown(["", *header], [line(*kind) for kind in kinds]))
    counts = ("recall_at_5", "shared_keyword_edges", "shared_entity_edges", "similarity_edges")
    print()
    print(common.markdown(["", *sizes], [[name, *(r[name] for r in rows)] for name in counts]))


if __name__ == "__main__":
    main()
