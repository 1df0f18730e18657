"""Corpora, their documents and their traces: listed, shown and deleted."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from kgp_neo4j.corpus.answer.traces import explain, remove, traces
from kgp_neo4j.corpus.load.delete import (
    delete_corpus,
    delete_document,
    list_documents,
    list_passages,
    list_tables,
)
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.environment.job import Job
from kgp_neo4j.serve.answers import answer_record, document_record, passage_record
from kgp_neo4j.serve.problems import ProblemError, missing
from kgp_neo4j.serve.questions import json_response
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.stream import while_connected
from kgp_neo4j.serve.tokens import RIGHTS, Access
from kgp_neo4j.types.errors import TraceError

with needs("serve", "the service"):
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = [
    "drop_corpus",
    "drop_document",
    "drop_trace",
    "one_document",
    "one_trace",
    "show_corpora",
    "show_documents",
    "show_traces",
]

#: Passages of a document, documents of a corpus and traces that one response has at most.
_PASSAGES, _DOCUMENTS, _TRACES = 5000, 10_000, 200
#: The ids that the package makes.
_ID = re.compile(r"[0-9a-f]{32}")


async def show_corpora(service: Service, access: Access, request: Request) -> Response:
    """List the corpora and knowledge graphs that the token sees, and what it may do."""

    def work() -> dict[str, Any]:
        return {
            "corpora": [asdict(each) for each in service.corpora(access)],
            "graphs": [asdict(each) for each in service.graphs(access)],
            "rights": [right for right in RIGHTS if right in access.rights],
            "model": service.model.name if service.model else None,
            "upload": service.settings.upload,
        }

    return await _looked_up(service, request, work)


async def drop_corpus(service: Service, access: Access, request: Request) -> Response:
    """Delete a corpus with everything in it."""
    name = request.path_params["name"]
    return await _changed(service, access, name, lambda: delete_corpus(service.database, name))


async def show_documents(service: Service, access: Access, request: Request) -> Response:
    """List the documents of a corpus by title."""
    corpus = _corpus(request)

    def work() -> dict[str, Any]:
        found = list_documents(service.database, corpus)
        return {
            "documents": [document_record(each) for each in found[:_DOCUMENTS]],
            "found": len(found),
        }

    return await _looked_up(service, request, service.for_corpus(access, corpus, work))


async def one_document(service: Service, access: Access, request: Request) -> Response:
    """Return a document with all of its passages, and its tables."""
    corpus, key = _corpus(request), _id(request, "document")

    def work() -> dict[str, Any]:
        passages = list_passages(service.database, corpus, key, _PASSAGES)
        if not passages:
            raise missing("document", key)
        return {
            "id": key,
            "title": passages[0].title,
            "passages": [passage_record(each) for each in passages],
            "tables": [asdict(each) for each in list_tables(service.database, corpus, key)],
        }

    return await _looked_up(service, request, service.for_corpus(access, corpus, work))


async def drop_document(service: Service, access: Access, request: Request) -> Response:
    """Delete a document with its passages, pages and tables."""
    corpus, key = _corpus(request), _id(request, "document")

    def work() -> Any:
        if key not in {each.id for each in list_documents(service.database, corpus)}:
            raise missing("document", key)
        return delete_document(service.database, corpus, key)

    return await _changed(service, access, corpus, work)


async def show_traces(service: Service, access: Access, request: Request) -> Response:
    """List the kept traversals of a corpus, the latest first."""
    corpus = _corpus(request)

    def work() -> dict[str, Any]:
        found = traces(service.database, corpus, limit=_TRACES)
        return {"traces": [asdict(each) for each in found]}

    return await _looked_up(service, request, service.for_corpus(access, corpus, work))


async def one_trace(service: Service, access: Access, request: Request) -> Response:
    """Return a kept traversal: the answer as it was, with the passages that are still there."""
    corpus, key = _corpus(request), _id(request, "trace")

    def work() -> dict[str, Any]:
        replay = _trace(service, corpus, key)
        return {"id": key, "asked_at": replay.asked_at, "answer": answer_record(replay.answer)}

    return await _looked_up(service, request, service.for_corpus(access, corpus, work))


async def drop_trace(service: Service, access: Access, request: Request) -> Response:
    """Remove a kept traversal."""
    corpus, key = _corpus(request), _id(request, "trace")

    def work() -> dict[str, Any]:
        _trace(service, corpus, key)
        return {"removed": remove(service.database, [key], corpus=corpus)}

    return await _changed(service, access, corpus, work)


def _trace(service: Service, corpus: str, key: str) -> Any:
    """Return a trace of a corpus; one of another corpus is missing like one that nobody kept."""
    try:
        replay = explain(service.database, key)
    except TraceError:
        raise missing("trace", key) from None
    if replay.answer.corpus != corpus:
        raise missing("trace", key)
    return replay


async def _looked_up(
    service: Service, request: Request, work: Callable[[], dict[str, Any]]
) -> Response:
    job = service.question_job(request.state.id)
    return json_response(await while_connected(request, service.questions.begin(job, work)))


async def _changed(
    service: Service, access: Access, corpus: str, work: Callable[[], Any]
) -> Response:
    """Do what changes a corpus, after the loads that were there before, and to its end."""
    checked = service.for_corpus(access, corpus, work)
    return json_response(await service.loads.begin(Job(), checked))


def _corpus(request: Request) -> str:
    """Return the corpus that the address names."""
    name = request.query_params.get("corpus", "")
    if not name or len(name) > 200:
        raise ProblemError(400, "the address names no corpus", "Add ?corpus=NAME.")
    return name


def _id(request: Request, what: str) -> str:
    """Return the id in the path; what cannot be one is missing like one that nobody has."""
    key: str = request.path_params["id"]
    if not _ID.fullmatch(key):
        raise missing(what, key[:64])
    return key
