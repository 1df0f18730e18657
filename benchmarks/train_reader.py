"""Train a reader like the one that is shipped, and fit how sure it is on what is retrieved.

The one that is shipped learned from a larger teacher too, and from questions made for it: see its
model card, kgp_neo4j/models/reader/README.md.

    python benchmarks/train_reader.py ../shared/data --out trained/reader --keep FOLDER

FOLDER holds extractive_qa/, boolq/, hotpotqa/, 2wiki/ and musique/; the corpora `bench-NAME` are in
the database (made by benchmarks/multihop.py). No development question is read. `--keep` holds what
was retrieved for the training questions that the reader is not trained on; with those lists there,
no database is needed.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import _common as common
from reading import NAMES, answers_of, retrieved

from kgp_neo4j.graphdb.install import open_database
from kgp_neo4j.train.reader import ReaderSettings, held_out, train_reader
from kgp_neo4j.train.reader_calibration import Asked


def main() -> None:
    """Train and write the folder."""
    parser = common.parser(__doc__ or "", None)
    parser.set_defaults(out=Path("trained/reader"))
    parser.add_argument("folder", type=Path, help="holds the data sets")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keeps what is retrieved")
    given = parser.parse_args()
    data: Path = given.folder
    files = [data / "extractive_qa" / f"{name}.jsonl.gz" for name in ("pool_extractive", "more")]
    files += [data / "boolq/train_part.jsonl.gz"]
    files += [data / name / "train.jsonl.gz" for name in NAMES]
    files += [data / "hotpotqa" / f"{name}.jsonl.gz" for name in ("train_more", "train_evidence")]
    asked = []
    lists = {name: given.keep / f"held-{name}.jsonl" if given.keep else None for name in NAMES}
    known = all(kept is not None and kept.is_file() for kept in lists.values())
    with (
        common.explained(),
        nullcontext() if known else open_database(echo=common.say) as database,
    ):
        for name, kept in lists.items():
            records = [
                record
                for record in common.read_lines(data / name / "train.jsonl.gz")
                if held_out(record["question"])
            ]
            found = retrieved(database, name, records, kept)
            for record in records:
                passages, paths, _ = found[common.asked(record).id]
                asked.append(Asked(record["question"], passages, tuple(answers_of(record)), paths))
    with common.explained():
        report = train_reader(
            files, given.out, ReaderSettings(seed=given.seed), checked=asked,
            overwrite=not given.resume,
        )  # fmt: skip
    print(report)


if __name__ == "__main__":
    main()
