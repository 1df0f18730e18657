"""Who calls: the access of a request's token, and the work that the service does for it."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response

from kgp_neo4j.corpus.answer.follow_up import Said, understood
from kgp_neo4j.environment.job import Job
from kgp_neo4j.llm.call import MeteredModel, writer
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.serve.connections import json_response, while_connected
from kgp_neo4j.serve.problems import ProblemError, missing
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.tokens import Access
from kgp_neo4j.types.language import Usage
from kgp_neo4j.types.mindmap import MindMap


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request, with the right that its answer asks for."""

    request: Request
    service: Service
    access: Access

    def seeing(self, kind: str, name: str, work: Callable[[], Any]) -> Callable[[], Any]:
        """Return the work, to be done where the "corpus" or "graph" is there and may be seen.

        Both are looked up, so that the time does not tell a hidden one from one that is not there.
        """

        def checked() -> Any:
            label = "Corpus" if kind == "corpus" else "KnowledgeGraph"
            rows = self.service.database.read("inspect/names", label=label)
            if {"name": name} not in rows or not self.access.sees(kind, name):
                raise missing("corpus" if kind == "corpus" else "knowledge graph", name)
            return work()

        return checked

    def map_mind(
        self, graph: str, question: str, wanted: bool | str = True, *, history: Sequence[Said] = ()
    ) -> tuple[MindMap, Usage | None]:
        """Answer over a graph what a question means after `history`; count the use of the model."""
        model = self.service.model(wanted)
        meter = MeteredModel(model) if model else None
        asked = understood(question, history, meter)
        write = writer(meter) if meter else None
        made = ask_graph(self.service.database, graph, asked, write=write)
        usage = meter.take_usage() if meter else None
        self.count(graph, usage)
        return made, usage

    def count(self, corpus: str, usage: Usage | None) -> None:
        """Count what a language model used for the sender, over a corpus or a graph."""
        self.service.metrics.count_usage(self.access.name, corpus, usage)

    def events(self, work: Callable[[], Any]) -> AsyncGenerator[tuple[str, Any]]:
        """Begin the work for a question, and return its events."""
        job = self.service.question_job(self.request.state.id)
        return self.service.questions.events(job, work)

    async def look(self, work: Callable[[], Any]) -> Response:
        """Answer with what is looked up, within the time and the queue of a question."""
        job = self.service.question_job(self.request.state.id)
        waiting = self.service.questions.begin(job, work)
        found = await while_connected(self.request, waiting)
        return found if isinstance(found, Response) else json_response(found)

    async def change(self, work: Callable[[], Any]) -> Response:
        """Do what changes a corpus, after the loads that were there before, and to its end."""
        return json_response(await self.service.loads.begin(Job(), work))


def handles(function: Callable[..., Any]) -> Callable[..., Awaitable[Response]]:
    """Make a handler: it looks up by GET, else changes, a `corpus` that the `caller` sees."""

    @wraps(function)
    async def handle(caller: Caller, **values: Any) -> Response:
        work: Callable[[], Any] = partial(function, caller=caller, **values)
        if "corpus" in values:
            work = caller.seeing("corpus", values["corpus"], work)
        return await (caller.look if caller.request.method == "GET" else caller.change)(work)

    return handle


def require_right(access: Access, right: str) -> None:
    """Raise the problem of a token that lacks a right."""
    if right not in access.rights:
        raise ProblemError(403, f"this needs the right {right!r}")


def _with_right(right: str) -> Callable[[Request], Awaitable[Caller]]:
    async def check(request: Request) -> Caller:
        require_right(request.state.access, right)
        return Caller(request, request.app.state.service, request.state.access)

    return check


#: The sender of a request whose token was checked for a right.
Reads = Annotated[Caller, Depends(_with_right("read"))]
Loads = Annotated[Caller, Depends(_with_right("load"))]
Administers = Annotated[Caller, Depends(_with_right("admin"))]
CorpusName = Annotated[str, Query(min_length=1, max_length=200, description="The corpus's name.")]
