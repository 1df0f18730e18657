"""Passages found within long documents of several kinds: R@5 of each method.

    python benchmarks/long_documents.py FOLDER --out long

Makes long documents of the parts that data sets give, with questions whose answers stand in a known
place: a medical guide (one document, with headings and without), privacy policies, articles, papers
and posts. Writes them to the folder, loads and connects each kind as a corpus, and writes questions
for `train scorer` (`KIND/train.jsonl`) and to measure (`KIND/dev.jsonl`); none is in both.
"""

import ast
import csv
import random
import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import _common as common

from kgp_neo4j import Corpus
from kgp_neo4j.types.corpus import Passage, Question
from kgp_neo4j.types.settings import AgentSettings, SimilaritySettings

METHODS = ("bm25", "dense", "hybrid", "kgp")
#: Parts of the guide: the heading, the data's column, and how one asks for it.
PARTS = (
    ("Symptoms", "Symptom", "What are the symptoms of {}?", "How does {} show itself?"),
    ("Causes", "reason", "What is {}?", "What causes {}?"),
    ("Tests and procedures", "TestsAndProcedures", "Which tests are done for {}?",
     "How is {} diagnosed?"),
    ("Medications", "commonMedications", "Which medications are given for {}?",
     "How is {} treated with drugs?"),
)  # fmt: skip


class Asked(NamedTuple):
    """A question with its answer as it stands in a file from a place on."""

    question: str
    answer: str
    file: str
    start: int
    train: bool


@dataclass
class Kind:
    """Long documents of one kind in the making: texts by file name, and their questions."""

    texts: dict[str, str] = field(default_factory=lambda: defaultdict(str))
    asked: list[Asked] = field(default_factory=list)

    def add(self, file: str, text: str) -> int:
        """Add a paragraph to a file; return where it begins."""
        start = len(self.texts[file])
        self.texts[file] += f"{text.strip()}\n\n"
        return start


def guide(data: Path, marks: tuple[str, str, str]) -> Kind:
    """Return the medical guide; `marks` stand before the headings of each level."""
    kind, draw = Kind(), random.Random(0)
    file = f"guide.{'md' if marks[0] else 'txt'}"
    kind.add(file, f"{marks[0]}Guide to diseases")
    with (data / "medical/format_dataset.csv").open(encoding="utf-8", errors="replace") as rows:
        for at, row in enumerate(csv.DictReader(rows)):
            name = row["disease"].strip()
            kind.add(file, f"{marks[1]}{name}")
            for head, column, *forms in PARTS:
                text = row[column].strip()
                if row[column].startswith("["):
                    text = ", ".join(ast.literal_eval(text)).strip()
                if len(text.split()) < 2:
                    continue
                kind.add(file, f"{marks[2]}{head}")
                start = kind.add(file, text)
                question = draw.choice(forms).format(name.lower())
                kind.asked.append(Asked(question, text, file, start, at % 2 == 0))
    return kind


def spans(
    data: Path, sources: dict[str, bool], title: str = "{}", named: str = "{}", whole: str = ""
) -> Kind:
    """Return documents of the contexts of a pool's sources (true: to train with).

    `title` is a document's first line, `named` the question with the name of its document; with
    `whole` all contexts are one document of that title.
    """
    kind = Kind()
    for file in common.extractive(data):
        for at, row in enumerate(common.read_lines(file)):
            if row["source"] not in sources:
                continue
            said = whole or row["title"].replace("_", " ") or f"Paper {at}"
            document = f"{said.replace('/', ' ')}.txt"
            if document not in kind.texts:
                kind.add(document, title.format(said))
            lead = len(row["context"]) - len(row["context"].lstrip())
            start = kind.add(document, row["context"]) - lead
            train = sources[row["source"]] if len(sources) > 1 else at % 2 == 0
            for qa in row["qas"]:
                if qa["answers"]:
                    text, place = qa["answers"][0]
                    question = named.format(qa["question"], said)
                    kind.asked.append(Asked(question, text, document, start + place, train))
    return kind


def kinds(data: Path) -> Iterator[tuple[str, Kind]]:
    """Yield the kinds by name."""
    yield "guide", guide(data, ("# ", "## ", "### "))
    yield "guide-plain", guide(data, ("", "", ""))
    policies = {"policyqa_dev": True, "policyqa_test": False}
    yield "policies", spans(data, policies, "Privacy policy of {}", "{} ({})")
    yield "articles", spans(data, {"squad2_train_phong": True, "squadshifts_new_wiki": False})
    yield "papers", spans(data, {"covidqa_window": True})
    yield "posts", spans(data, {"squadshifts_reddit": True}, whole="Posts of a forum")


def questions(kind: Kind, passages: list[Passage], most: int) -> dict[str, list[Any]]:
    """Return questions with their gold passages, in the form that `train scorer` reads."""
    placed = defaultdict(list)
    for passage in passages:
        placed[Path(passage.source).name].append(passage)
    draw = random.Random(0)
    made: dict[str, list[Any]] = {}
    for split in ("train", "dev"):
        found: dict[str, Any] = {}
        chosen = [a for a in kind.asked if a.train == (split == "train")]
        draw.shuffle(chosen)
        for asked in chosen:
            end = asked.start + len(asked.answer)
            gold = [p for p in placed[asked.file] if p.start < end and asked.start < p.end]
            if not gold or asked.question in found or len(found) == most:
                continue
            held = [
                {"title": p.title, "paragraph_text": p.text, "is_supporting": True} for p in gold
            ]
            record = {"question": asked.question, "answer": asked.answer, "paragraphs": held}
            found[asked.question] = record | {"gold": [p.id for p in gold]}
        made[split] = list(found.values())
    return made


def measure(corpus: Corpus, asked: list[Any], method: Any, model: str | None) -> list[float]:
    """Return R@5 and the median of seconds."""
    found, seconds = [], []
    settings = AgentSettings(model=model)
    agent = "learned" if method == "kgp" else None
    retriever = corpus.pipeline(method=method, agent=agent, agent_settings=settings).retriever
    for one in asked:
        reply = retriever.retrieve(Question("", one["question"]))
        top = reply.passages[:5]
        found.append(sum(p.id in one["gold"] for p in top) / min(len(one["gold"]), 5))
        seconds.append(reply.seconds)
    return [100 * common.mean(found), statistics.median(seconds)]


def main() -> None:
    """Make, load, connect and measure; print Markdown."""
    parser = common.plain_parser(__doc__)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/runs/long"))
    parser.add_argument("--questions", type=int, default=200, help="most of a kind and split")
    parser.add_argument("--model", help="a scorer other than the one that is shipped")
    parser.add_argument("--encoder", help="embeds everything anew (default: as connect chooses)")
    given = parser.parse_args()
    header = ("kind", "passages", "method", "R@5", "p50 s")
    print(f"{common.described()}\n\n{common.markdown(header)}")
    for name, kind in kinds(given.folder):
        folder = given.out / name / "documents"
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in kind.texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        with Corpus(f"long-{name}") as corpus:
            report = corpus.load([str(folder)])
            if report.new or report.replaced or given.encoder:
                again = SimilaritySettings(encoder=given.encoder, replace=bool(given.encoder))
                corpus.connect(similarity=again)
            rows = corpus.passages(limit=100_000)
            asked = questions(kind, rows, given.questions)
            for split, found in asked.items():
                common.write_lines(given.out / name / f"{split}.jsonl", found)
            for method in METHODS:
                share, p50 = measure(corpus, asked["dev"], method, given.model)
                print(common.line((name, len(rows), method, share, f"{p50:.3f}")))


if __name__ == "__main__":
    main()
