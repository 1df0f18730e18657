"""Compare the sentence encoders: passages a second, R@5 of their vectors alone and of the agent.

    python benchmarks/encoding.py FOLDER --score score.py

For each data set and encoder a corpus of its own is loaded and connected. A rate is of the step
`embed` alone, on a server where nothing else is done.
"""

import json
from pathlib import Path

import _common as common

from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.models import quick
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER, QUICK_ENCODER

SETS = ("hotpotqa", "2wiki", "musique")


def size_of(encoder: str) -> float:
    """Return the megabytes of an encoder's weights."""
    stored = Folders.from_environment().cache / "models"
    files = [quick.FILE] if encoder == QUICK_ENCODER else stored.glob(f"{encoder}-*.bin")
    return max(file.stat().st_size for file in files) / 1e6


def main() -> None:
    """Connect every set by every encoder, ask its questions, and print the table."""
    parser = common.parser(__doc__, None)
    parser.add_argument("--score", type=Path, required=True, help="a scorer: score.py GOLD RUN")
    parser.add_argument("--encoders", type=common.words, default=[QUICK_ENCODER, DEFAULT_ENCODER])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/runs"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in SETS:
        folder = given.folder / name
        for encoder in given.encoders:
            corpus = f"encoding-{name}"
            common.kgp("load", str(folder / "corpus.jsonl.gz"), "--corpus", corpus)
            told, _ = common.kgp("connect", "--corpus", corpus, "--encoder", encoder, "--json")
            report = json.loads(told)
            seconds = report["seconds"]
            row = [name, encoder, report["embedded"] / seconds["embed"], seconds["all"]]
            for method in ("dense", "kgp"):
                out, questions = given.out / "encoding.jsonl", str(folder / "dev.jsonl.gz")
                asked = ("retrieve", questions, "--corpus", corpus, "--method", method)
                common.kgp(*asked, "--out", str(out))
                table = common.scorer(given.score).score(questions, str(out))[0].values()
                row.append(100 * common.mean(each["recall@5"] for each in table))
            rows.append([*row, size_of(encoder)])
            common.kgp("delete", "--corpus", corpus, "--yes")
    head = ["", "encoder", "passages a second", "connect, s", "R@5 alone", "R@5 of the agent", "MB"]
    print(f"{common.described()}\n\n{common.markdown(head, rows)}")


if __name__ == "__main__":
    main()
