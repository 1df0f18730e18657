"""Compare the sentence encoders: their speed and size, and what vectors and the agent find.

    python benchmarks/encoding.py FOLDER --score score.py

For each of the three sets and each encoder a corpus is loaded, connected, asked and deleted. The
speed is that of the step `embed`, so let nothing else run; vectors that earlier runs kept in the
cache folder must not be there.
"""

import tempfile
from functools import partial
from pathlib import Path

import _common as common
from reading import NAMES

from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER, QUICK_ENCODER
from kgp_neo4j.models.quick import FILE


def main() -> None:
    """Connect and ask by every encoder, and print the table."""
    parser = common.plain_parser(__doc__, "holds the data sets")
    parser.add_argument("--score", type=common.scorer, required=True, help="score.py GOLD RUN")
    parser.add_argument("--encoders", type=common.words, default=[QUICK_ENCODER, DEFAULT_ENCODER])
    given = parser.parse_args()
    stored = Folders.from_environment().cache / "models"
    rows = []
    for name in NAMES:
        questions, corpus = given.folder / name / "dev.jsonl.gz", f"encoding-{name}"
        for encoder in given.encoders:
            file = given.folder / name / "corpus.jsonl.gz"
            _, seconds, report = common.connected(file, corpus, "--encoder", encoder)
            rate = report["embedded"] / report["seconds"]["embed"]
            with tempfile.NamedTemporaryFile() as run:
                asked = partial(common.retrieved, questions, corpus, Path(run.name), given.score)
                scores = [asked("--method", method) for method in ("dense", "kgp")]
            found = [each[score] for each in scores for score in ("recall@5", "precision@5")]
            weights = [FILE] if encoder == QUICK_ENCODER else stored.glob(f"{encoder}-*.bin")
            size = sum(file.stat().st_size for file in weights) / 1e6
            rows.append((name, encoder, rate, seconds, size, *found))
            common.kgp("delete", "--corpus", corpus, "--yes")
    header = ("", "encoder", "passages a second", "connect, s", "MB")
    header += ("recall@5 by vectors", "precision", "recall@5 of the agent", "precision")
    print(f"{common.described()}\n\n{common.markdown(header, rows)}")


if __name__ == "__main__":
    main()
