"""Train the agent that is shipped, again: the trees of `kgp_neo4j/models/learned/scorer.json`.

    python benchmarks/train_agent.py ../shared/data --out trained
    python benchmarks/train_agent.py ../shared/data --out without --leave-out hotpotqa

Needs the corpora `bench-hotpotqa`, `bench-2wiki` and `bench-musique`, as `multihop.py FOLDER
--only-connect` makes them; with `--long FOLDER`, `long-guide` and its like too, as
`long_documents.py` makes them with their questions. `--leave-out` trains without one set's
questions, to see how the agent does on documents and questions that it was not trained for.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

SETS = ("hotpotqa", "2wiki", "musique")
LONG = ("guide", "guide-plain", "policies", "articles")


def main() -> None:
    """Run `kgp-neo4j train scorer` over the sets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="holds the folders of the three sets")
    parser.add_argument(
        "--long",
        type=Path,
        help="also train on the questions that long_documents.py has written there",
    )
    parser.add_argument("--out", required=True, help="the folder that is written")
    parser.add_argument("--leave-out", choices=(*SETS, *LONG), action="append", default=[])
    given = parser.parse_args()
    arguments = []
    for name in SETS:
        if name not in given.leave_out:
            arguments += ["--set", f"bench-{name}={given.data / name / 'train.jsonl.gz'}"]
    for name in LONG if given.long else ():
        if name not in given.leave_out:
            arguments += ["--set", f"long-{name}={given.long / name / 'train.jsonl'}"]
    command = [sys.executable, "-m", "kgp_neo4j.cli", "train", "scorer", *arguments]
    sys.exit(subprocess.run([*command, "--out", given.out]).returncode)


if __name__ == "__main__":
    main()
