"""Whether "not in these documents" is said of questions about something else, and of no others.

    python benchmarks/not_there.py FOLDER

Seven corpora of different kinds are asked their own questions and those of all the others: the
three sets (`bench-NAME`, made by benchmarks/multihop.py), what benchmarks/documents.py has loaded,
and passages of FOLDER/extractive_qa, which are loaded and connected: papers about COVID-19, privacy
policies, articles. Some questions of the sets are answered in the other sets' passages, too, which
are all from Wikipedia. Prints Markdown.
"""

import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import _common as common
from documents import QUESTIONS
from reading import NAMES

from kgp_neo4j import Corpus
from kgp_neo4j.corpus.read.reader import load_reader

#: The kinds of extractive_qa, by how their sources begin.
_SINGLE = {
    "covid": ("covidqa",),
    "policies": ("policyqa",),
    "articles": ("squadshifts_new_wiki", "squad2_train_phong"),
}


def main() -> None:
    """Load what is missing, ask and print."""
    given = common.parser(__doc__, 60).parse_args()
    pool = common.read_lines(*common.extractive(given.folder))
    found, asked = {}, {}
    for kind, sources in _SINGLE.items():
        found[kind] = [record for record in pool if record["source"].startswith(sources)]
        asked[kind] = [q["question"] for r in found[kind] for q in r["qas"] if q["answers"]]
    for name in NAMES:
        records = common.read_lines(given.folder / name / "dev.jsonl.gz")
        asked[name] = [record["question"] for record in records]
    ours = json.loads(QUESTIONS.read_text(encoding="utf-8"))["questions"]
    asked["document_questions"] = [one["question"] for one in ours if one["question"].isascii()]
    draw = random.Random(given.seed)
    asked = {
        kind: draw.sample(questions, min(given.questions, len(questions)))
        for kind, questions in asked.items()
    }
    rows = []
    reader = load_reader()
    for kind, own in asked.items():
        with TemporaryDirectory() as folder, Corpus(f"bench-{kind}") as corpus:
            if kind in found:
                held = [{"title": r["title"] or kind, "text": r["context"]} for r in found[kind]]
                corpus.load([common.write_lines(Path(folder) / f"{kind}.jsonl", held)])
                corpus.connect()
            others = [q for other, questions in asked.items() if other != kind for q in questions]
            cells: list[Any] = []
            for questions in (own, draw.sample(others, len(own))):
                read = []
                for question in questions:
                    got = corpus.retrieve(question)
                    read.append(reader.read(question, got.passages, got.paths))
                cells += [len(read), sum(one.kind == "none" for one in read)]
            rows.append((kind, *cells, sum(one.stated for one in read)))
    header = ("questions", "own", "refused", "foreign", "refused", "stated")
    print(f"{common.described()}\n\n{common.markdown(header, rows)}")


if __name__ == "__main__":
    main()
