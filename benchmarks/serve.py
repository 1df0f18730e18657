"""What the service adds to a question: traced and streamed over HTTP, against Python, in pairs.

    python benchmarks/serve.py --corpus demo --rounds 60

Both sides ask the same question in the same process, one after the other, in an order drawn for
each pair; the service streams its events over a real connection on loopback and records its spans
(extra `otel`), Python calls `make_pipeline(...).ask`, with no spans. A pair's difference is taken,
so that other work on the machine counts on both sides; the processor's time of the process, the
client's included, is taken beside the clock, since it hardly knows other work.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from opentelemetry import context, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from serving import events, serving

from kgp_neo4j.corpus.pipeline import make_pipeline
from kgp_neo4j.demo import QUESTION, QUESTIONS
from kgp_neo4j.graphdb.open import open_database
from kgp_neo4j.serve.service import Service


def main() -> None:
    """Measure, and print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--corpus", default="demo")
    parser.add_argument("--rounds", type=int, default=60)
    given = parser.parse_args()
    with open_database() as database, serving(Service(database)) as running:
        client = running.client()

        def by_python(question: str) -> str:
            # No span is recorded under a context that says so.
            token = context.attach(context.set_value("suppress_instrumentation", True))
            try:
                return make_pipeline(database, given.corpus).ask(question).text
            finally:
                context.detach(token)

        def by_service(question: str) -> str:
            asked = {"question": question, "corpus": given.corpus, "stream": True}
            told = dict(events(client.post("/ask", json=asked).text))
            text: str = told["answer"]["text"]
            return text

        sides: dict[str, Callable[[str], str]] = {"python": by_python, "service": by_service}
        questions = (QUESTION, *QUESTIONS)
        for question in questions:
            for _ in range(3):  # loads models, fills the caches of plans
                assert by_python(question) == by_service(question)
        # From here on there is somebody who records spans.
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(InMemorySpanExporter()))
        trace.set_tracer_provider(provider)
        draw = random.Random(7)
        seconds: dict[str, list[float]] = {"python": [], "service": []}
        worked: dict[str, list[float]] = {"python": [], "service": []}
        for number in range(given.rounds):
            for side in draw.sample(sorted(sides), 2):
                began, before = time.perf_counter(), time.process_time()
                sides[side](questions[number % len(questions)])
                seconds[side].append(time.perf_counter() - began)
                worked[side].append(time.process_time() - before)
        more = _more(seconds)
        cut = statistics.quantiles(more, n=20)
        print(
            json.dumps(
                {
                    "pairs": len(more),
                    "python_ms_median": round(1000 * statistics.median(seconds["python"]), 1),
                    "service_ms_median": round(1000 * statistics.median(seconds["service"]), 1),
                    "more_ms_median": round(1000 * statistics.median(more), 1),
                    "more_ms_quarter": round(1000 * cut[4], 1),
                    "more_ms_three_quarters": round(1000 * cut[14], 1),
                    "cpu_python_ms_median": round(1000 * statistics.median(worked["python"]), 1),
                    "cpu_more_ms_median": round(1000 * statistics.median(_more(worked)), 1),
                },
                indent=2,
            )
        )


def _more(taken: dict[str, list[float]]) -> list[float]:
    """Return how much more the service took, pair by pair."""
    return [b - a for a, b in zip(taken["python"], taken["service"], strict=True)]


if __name__ == "__main__":
    main()
