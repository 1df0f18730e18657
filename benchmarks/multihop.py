"""Load, connect and retrieve one multi-hop data set, with times, peak memory and scores.

    python benchmarks/multihop.py FOLDER/hotpotqa --score score.py
    python benchmarks/multihop.py FOLDER/hotpotqa --score score.py --runs dense,kgp --encoder NAME

Runs the command line as a user would, each step as a process of its own, against the server that
`kgp-neo4j` finds (NEO4J_URI, else the embedded one). Prints Markdown tables. An encoder's speed is
that of the step `embed`: vectors that earlier runs kept in the cache folder must not be there.
"""

from pathlib import Path

import _common as common

#: The runs by name, each with its options of `retrieve`.
RUNS = {method: ("--method", method) for method in ("bm25", "dense", "hybrid", "kgp")}
RUNS |= {"mdr": ("--rerank", "mdr"), "knn": ("--agent", "knn"), "tfidf": ("--agent", "tfidf")}


def main() -> None:
    """Run the steps and print the tables."""
    parser = common.plain_parser(__doc__, "holds corpus.jsonl.gz and the questions")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--score", type=common.scorer, help="a scorer: score.py GOLD RUN")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/runs"))
    parser.add_argument("--encoder", help="another one than `connect` chooses")
    parser.add_argument("--model", help="a scorer other than the one that is shipped")
    parser.add_argument("--only-connect", action="store_true", help="retrieve nothing")
    parser.add_argument("--only-retrieve", action="store_true", help="the corpus is connected")
    told = f"of {','.join(RUNS)} (default: all)"
    parser.add_argument("--runs", type=common.words, default=list(RUNS), metavar="A,B", help=told)
    given = parser.parse_args()
    name = f"bench-{given.folder.name}"
    given.out.mkdir(parents=True, exist_ok=True)
    common.kgp("doctor")  # the server's start is not part of what is measured
    if not given.only_retrieve:
        if name in common.kgp("corpora", "--json")[0].split('"'):
            common.kgp("delete", "--corpus", name, "--yes")
        encoder = ("--encoder", given.encoder) if given.encoder else ()
        file = given.folder / "corpus.jsonl.gz"
        load, connect, report = common.connected(file, name, *encoder)
        print(f"\n{common.described()}; load {load:.0f} s, connect {connect:.0f} s, ", end="")
        print(f"{report['embedded']:,} passages embedded\n")
        print(common.markdown(("step of connect", "seconds"), report["seconds"].items()))
        python, server = common.peaks()
        print(f"\npeak memory: Python {python:,.0f} MB, server {server or 0:,.0f} MB")
    header = (f"{given.folder.name} {given.split}", *common.SCORES, "p50 s", "p95 s")
    print(f"\n{common.markdown(header)}")
    for run in [] if given.only_connect else given.runs:
        out = given.out / f"{given.folder.name}-{given.split}-{run}.jsonl"
        options = RUNS[run]
        if given.model and run == "kgp":
            options = ("--agent", "learned", "--model", given.model)
        questions = given.folder / f"{given.split}.jsonl.gz"
        row = common.retrieved(questions, name, out, given.score, *options)
        scores = (row.get(key, "") for key in common.SCORES)
        print(common.line((run, *scores, f"{row['p50']:.3f}", f"{row['p95']:.3f}")))


if __name__ == "__main__":
    main()
