"""The service: one database, the work for it, and what a request may see of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from kgp_neo4j.corpus.load.delete import corpora
from kgp_neo4j.corpus.pipeline import make_pipeline
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.environment.job import Job
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.serve.metrics import Metrics
from kgp_neo4j.serve.tokens import Tokens
from kgp_neo4j.serve.work import Work
from kgp_neo4j.types.errors import ConfigurationError, KgpError
from kgp_neo4j.types.language import LanguageModel

__all__ = ["ServeSettings", "Service"]


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The limits of a service.

    `threads` answer questions, and `queue` more wait for one of them; `seconds` is what a question
    may take with its waiting. `upload` is the most megabytes of a file. Files wait in `folder`
    while they are loaded.
    """

    threads: int = 2
    queue: int = 16
    seconds: float = 30.0
    upload: int = 64
    log_questions: bool = False
    folder: Path = field(default_factory=lambda: Folders.from_environment().home / "uploads")

    def __post_init__(self) -> None:
        if self.threads < 1 or self.queue < 0 or self.seconds <= 0 or self.upload < 1:
            raise ConfigurationError(
                "a service needs a thread, a time limit, and uploads of a megabyte",
                hint="Leave the options out to have the defaults.",
            )


class Service:
    """What all handlers share; made once for an application."""

    def __init__(
        self,
        database: Database,
        *,
        settings: ServeSettings | None = None,
        tokens: Tokens | None = None,
        model: LanguageModel | None = None,
    ) -> None:
        self.database = database
        self.settings = settings or ServeSettings()
        self.tokens = tokens
        self.model = model
        self.questions = Work("questions", database, self.settings.threads, self.settings.queue)
        # Loading takes minutes: it must not hold up questions, nor take all cores from them.
        self.loads = Work("loads", database, 1, self.settings.queue)
        self.metrics = Metrics((self.questions, self.loads))

    def warm(self) -> None:
        """Load the models before the first question, where there is something to ask."""
        question = "What is this about?"
        with suppress(KgpError):
            for corpus in corpora(self.database)[:1]:
                make_pipeline(self.database, corpus.name).ask(question)
            for graph in graphs(self.database)[:1]:
                ask_graph(self.database, graph.name, question)

    def question_job(self, key: str) -> Job:
        """Return the job of a request, which may take as long as a question."""
        return Job(self.settings.seconds, id_=key)

    def close(self) -> None:
        """Let what runs end."""
        self.questions.close()
        self.loads.close()
