"""Answers by a language model: golden and no passages, each retriever, and IRCoT (KGP, Table 1).

Examples:
  python benchmarks/answers.py ../shared/data/musique --llm gpt-4o-mini
  python benchmarks/answers.py ../shared/data/hotpotqa --llm local:models/qwen --methods golden,kgp

All methods share one prompt and the short form. The corpus bench-FOLDER is loaded and connected
unless it is there. One call for each answer, and up to four more for IRCoT's thoughts; replies are
kept on disk, so that a second run costs nothing. The offline reader has a script of its own,
reading.py.

Prints exact match and F1 (SQuAD), the share of statements that the evidence carries, calls and
tokens a question. Writes results/answers-FOLDER.json and the runs, which score.py reads as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import _common as common
from agents import prepare

METHODS = ("golden", "none", "bm25", "dense", "hybrid", "kgp", "ircot")
#: Passages that a prompt holds: those of the context budget that a model reads with care.
SHOWN = 10


def answering_of(database: Any, corpus: str, name: str, records: dict[str, Any], model: Any) -> Any:
    """Return what answers a question by a method."""
    from kgp_neo4j.corpus.pipeline import make_pipeline
    from kgp_neo4j.evaluate.answers import from_passages, from_pipeline, gold_passages
    from kgp_neo4j.models.encoder import load_encoder
    from kgp_neo4j.types.settings import TraversalSettings

    if name == "golden":
        return from_passages(lambda q: gold_passages(records[q.id]), model, load_encoder())
    if name == "none":
        return from_passages(lambda q: (), model)
    settings = TraversalSettings(budget=SHOWN)
    return from_pipeline(
        make_pipeline(database, corpus, method=name, settings=settings, model=model)
    )


def figures(records: Sequence[common.Record], rows: Sequence[common.Record]) -> dict[str, float]:
    """Return the means over all questions, in per cent; calls and tokens a question."""
    from kgp_neo4j.evaluate.answers import exact_match, f1

    truths = [[record["answer"], *record.get("answer_aliases", [])] for record in records]
    pairs = [(row["answer"], truth) for row, truth in zip(rows, truths, strict=True)]
    carried = [each for row in rows for each in row["carried"]]
    return {
        "EM": 100 * common.mean(exact_match(*pair) for pair in pairs),
        "F1": 100 * common.mean(f1(*pair) for pair in pairs),
        "carried": 100 * common.mean(carried),
        "calls": common.mean(row["calls"] for row in rows),
        "tokens": common.mean(sum(row["tokens"]) for row in rows),
        "seconds": common.quantile((row["seconds"] for row in rows), 0.5),
    }


def arguments() -> argparse.Namespace:
    """Read the command line."""
    made = common.parser(__doc__ or "", 100)
    made.add_argument("folder", type=Path, help="holds corpus.jsonl.gz and the questions")
    made.add_argument("--split", default="dev", help="the questions' file (default: dev)")
    made.add_argument("--encoder", metavar="NAME", help="embeds the passages (default: offline)")
    made.add_argument("--llm", required=True, metavar="NAME", help="the model, as `ask` takes it")
    made.add_argument("--chat-url", metavar="URL", help="the chat server (or OPENAI_BASE_URL)")
    made.add_argument(
        "--methods", type=common.words, default=list(METHODS), help="with commas (default: all)"
    )
    given = made.parse_args()
    common.check(METHODS, given.methods, "method")
    given.graphs, given.mdr_model = ["tfidf", "entity", "knn-st"], None
    return given


def main() -> None:
    """Run the methods and print the table."""
    given = arguments()
    from kgp_neo4j.environment.configuration import language_settings
    from kgp_neo4j.evaluate.answers import answer_questions
    from kgp_neo4j.graphdb.install import open_database
    from kgp_neo4j.llm.call import open_language_model
    from kgp_neo4j.types.errors import ConfigurationError

    path = given.folder / f"{given.split}.jsonl.gz"
    drawn = common.questions_of(path, given.questions, given.seed)
    questions = [common.asked(record) for record in drawn]
    records = {question.id: record for question, record in zip(questions, drawn, strict=True)}
    corpus, results = f"bench-{given.folder.name}", {}
    with common.explained():
        model = open_language_model(language_settings(model=given.llm, url=given.chat_url))
        if model is None:
            raise ConfigurationError("no language model is named", hint="Give --llm NAME.")
        with open_database(echo=common.say) as database:
            if set(given.methods) - {"golden", "none"}:
                prepare(database, corpus, given)
            for name in given.methods:
                common.say(f"{name}: {len(questions)} questions")
                answering = answering_of(database, corpus, name, records, model)
                run = f"answers-{given.folder.name}-{len(questions)}-{given.seed}-{name}.jsonl"
                rows = answer_questions(
                    questions, answering, given.out / "runs" / run, resume=given.resume
                )
                results[name] = figures(drawn, rows)
    print(common.described(), "\n")
    columns = ("EM", "F1", "carried", "calls", "tokens", "seconds")
    table = [[name, *(row[column] for column in columns)] for name, row in results.items()]
    print(common.markdown(("method", *columns), table))
    settings = {"llm": model.name, "questions": len(questions), "seed": given.seed}
    common.keep(given.out, f"answers-{given.folder.name}", {"settings": settings} | results)


if __name__ == "__main__":
    main()
