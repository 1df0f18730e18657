"""Train the agent that is shipped, again: the trees of `kgp_neo4j/models/learned/scorer.json`.

    python benchmarks/train_agent.py FOLDER --out trained --long benchmarks/runs/long \\
        --leave-out guide --leave-out guide-plain
    python benchmarks/train_agent.py FOLDER --out without --leave-out hotpotqa

Needs the corpora `bench-hotpotqa`, `bench-2wiki` and `bench-musique`, as `multihop.py FOLDER
--only-connect` makes them; with `--long FOLDER`, `long-guide` and its like too, as
`long_documents.py` makes them with their questions. What is shipped has none of the guide's, whose
data is for research alone. `--leave-out` also trains without one set's questions, to see how the
agent does on documents and questions that it was not trained for.

It is grown three times, which differ by their seed, and a passage's score is the mean of the three:
one growth alone moves R@5 by a point and more on questions over long documents.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import _common as common

SETS = ("hotpotqa", "2wiki", "musique")
LONG = ("guide", "guide-plain", "policies", "articles")
SEEDS = (0, 1, 2)


def mean_of(scorers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one scorer whose scores are the mean of others', in the form of `scorer.json`."""
    description = scorers[0]["description"]
    settings = {**description["settings"], "seed": SEEDS}
    joined = {
        hop: [_scaled(tree, len(scorers)) for each in scorers for tree in each[hop]]
        for hop in ("first", "later")
    }
    return {**scorers[0], "description": {**description, "settings": settings}, **joined}


def _scaled(tree: dict[str, Any], by: int) -> dict[str, Any]:
    made = {key: round(tree[key] / by, 6) for key in ("leaf", "value") if key in tree}
    return tree | made | {key: _scaled(tree[key], by) for key in ("low", "high") if key in tree}


def main() -> None:
    """Run `kgp-neo4j train scorer` over the sets."""
    parser = common.plain_parser(__doc__, "holds the folders of the three sets")
    parser.add_argument("--long", type=Path, help="has long_documents.py's questions, as well")
    parser.add_argument("--out", type=Path, required=True, help="the folder that is written")
    parser.add_argument("--leave-out", choices=(*SETS, *LONG), action="append", default=[])
    given = parser.parse_args()
    arguments = []
    for name in SETS:
        if name not in given.leave_out:
            arguments += ["--set", f"bench-{name}={given.folder / name / 'train.jsonl.gz'}"]
    for name in LONG if given.long else ():
        if name not in given.leave_out:
            arguments += ["--set", f"long-{name}={given.long / name / 'train.jsonl'}"]
    scorers = []
    with tempfile.TemporaryDirectory() as scratch:
        for seed in SEEDS:
            out = Path(scratch, str(seed))
            more = ("--seed", str(seed), "--out", str(out))
            common.say(common.kgp("train", "scorer", *arguments, *more)[0])
            scorers.append(json.loads((out / "scorer.json").read_text()))
    given.out.mkdir(parents=True)
    (given.out / "scorer.json").write_text(json.dumps(mean_of(scorers)))


if __name__ == "__main__":
    main()
