"""Counts and times of the service, in the text format of Prometheus."""

from collections.abc import Iterable
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from kgp_neo4j.serve.work import Work
from kgp_neo4j.types.language import Usage


class Metrics:
    """What one service counts."""

    def __init__(self, works: Iterable[Work]) -> None:
        self._registry = CollectorRegistry()
        for work in works:
            name = f"kgp_{work.name}_waiting"
            waiting = Gauge(name, f"Waiting {work.name}", registry=self._registry)
            waiting.set_function(partial(getattr, work, "waiting"))
        counter = partial(Counter, registry=self._registry)
        self._requests = counter("kgp_requests", "Requests answered", ("method", "route", "status"))
        self._seconds = Histogram(
            "kgp_request_seconds",
            "Time until the last byte of a response",
            ("method", "route"),
            buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0, 60.0),
            registry=self._registry,
        )
        names = ("token", "corpus", "model")
        self._calls = counter("kgp_model_calls", "Calls of language models", names)
        self._tokens = counter(
            "kgp_model_tokens",
            "Tokens of language models; kind is prompt or reply",
            (*names, "kind"),
        )

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def count_usage(self, token: str, corpus: str, usage: Usage | None) -> None:
        """Count what a language model used for the holder of a token."""
        if usage is None or not usage.calls:
            return
        labels = (token, corpus, usage.model)
        self._calls.labels(*labels).inc(usage.calls)
        self._tokens.labels(*labels, "prompt").inc(usage.prompt_tokens)
        self._tokens.labels(*labels, "reply").inc(usage.reply_tokens)

    def text(self) -> bytes:
        """Return all of it in the text format."""
        return generate_latest(self._registry)
