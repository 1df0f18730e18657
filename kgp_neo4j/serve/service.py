"""The service: one database, the work for it, and what a request may see of it."""

import asyncio
import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from kgp_neo4j.corpus.load.listing import corpora
from kgp_neo4j.corpus.pipeline import make_pipeline
from kgp_neo4j.environment.disk import private_folder
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.environment.job import Job
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.serve.metrics import Metrics
from kgp_neo4j.serve.problems import missing
from kgp_neo4j.serve.tokens import Tokens
from kgp_neo4j.serve.work import Work
from kgp_neo4j.types.errors import KgpError
from kgp_neo4j.types.language import LanguageModel
from kgp_neo4j.types.settings import ServeSettings

_RECEIVED = 8
#: The names that uploads have while they come, and the folders of corpora that they lie in.
_OURS = re.compile(r"incoming-[0-9a-f]{32}|c[0-9a-f]{16}")


@dataclass(eq=False, kw_only=True)
class Service:
    """What all handlers share, made once; files wait in `folder` while they are loaded."""

    database: Database = field(kw_only=False)
    settings: ServeSettings = field(default_factory=ServeSettings)
    folder: Path = field(default_factory=lambda: Folders.from_environment().home / "uploads")
    tokens: Tokens | None = None
    #: Those that may be asked for; the first one answers where none is named.
    models: Sequence[LanguageModel] = ()

    def __post_init__(self) -> None:
        threads = self.settings.threads or os.cpu_count() or 1
        self.questions = Work("questions", self.database, threads, self.settings.queue)
        # Loading takes minutes: it must not hold up questions, nor take all cores from them.
        self.loads = Work("loads", self.database, 1, self.settings.queue)
        #: Uploads that are received at once.
        self.receiving = asyncio.Semaphore(_RECEIVED)
        self.metrics = Metrics((self.questions, self.loads))
        self._alone = FileLock(f"{self.folder}.lock", mode=0o600, thread_local=False)

    def begin(self) -> None:
        """Remove what a service that was killed left of its uploads, if no other one runs."""
        private_folder(self.folder)
        with suppress(Timeout):
            self._alone.acquire(timeout=0)
            for left in self.folder.iterdir():
                if _OURS.fullmatch(left.name) and left.is_dir():
                    shutil.rmtree(left, ignore_errors=True)
                elif _OURS.fullmatch(left.name):
                    left.unlink(missing_ok=True)

    def warm(self) -> None:
        """Load the models before the first question, where there is something to ask."""
        question = "What is this about?"
        with suppress(KgpError):
            for corpus in corpora(self.database)[:1]:
                make_pipeline(self.database, corpus.name).ask(question)
            for graph in graphs(self.database)[:1]:
                ask_graph(self.database, graph.name, question)

    def model(self, wanted: bool | str = True) -> LanguageModel | None:
        """Return the language model of this name; of `True` the first one, of `False` none.

        Raises ProblemError where there is none of that name.
        """
        if isinstance(wanted, bool):
            return self.models[0] if wanted and self.models else None
        for model in self.models:
            if model.name == wanted:
                return model
        raise missing("language model", wanted[:64])

    def question_job(self, key: str) -> Job:
        """Return the job of a request, which may take as long as a question."""
        return Job(self.settings.seconds, id_=key)

    def close(self) -> None:
        """Let what runs end."""
        self.questions.close()
        self.loads.close()
        self._alone.release()
