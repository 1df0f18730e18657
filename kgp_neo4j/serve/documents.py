"""Corpora, their documents and their traces: listed, shown and deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from kgp_neo4j.corpus.answer.traces import Replay, explain, remove, traces
from kgp_neo4j.corpus.load.delete import (
    delete_corpus,
    delete_document,
    list_documents,
    list_passages,
    list_tables,
)
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.environment.job import Job
from kgp_neo4j.serve.access import Administers, CorpusName, Loads, Reads, TheService
from kgp_neo4j.serve.answers import answer_record, document_record, passage_record
from kgp_neo4j.serve.problems import missing
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.stream import json_response, while_connected
from kgp_neo4j.serve.tokens import RIGHTS, Access
from kgp_neo4j.types.errors import TraceError

with needs("serve", "the service"):
    from fastapi import APIRouter, Request, Response

__all__ = ["router"]

#: Passages of a document, documents of a corpus and traces that one response has at most.
_PASSAGES, _DOCUMENTS, _TRACES = 5000, 10_000, 200

router = APIRouter(tags=["documents"])


@router.get("/corpora")
async def list_corpora(access: Reads, service: TheService, request: Request) -> Response:
    """List the corpora and knowledge graphs that the token sees, and what it may do."""

    def look() -> dict[str, Any]:
        return {
            "corpora": [asdict(each) for each in service.corpora(access)],
            "graphs": [asdict(each) for each in service.graphs(access)],
            "rights": [right for right in RIGHTS if right in access.rights],
            "model": service.model.name if service.model else None,
            "upload": service.settings.upload,
        }

    return await _looked_up(service, request, look)


@router.delete("/corpora/{name}")
async def drop_corpus(name: str, access: Administers, service: TheService) -> Response:
    """Delete a corpus with everything in it."""
    return await _changed(service, access, name, lambda: delete_corpus(service.database, name))


@router.get("/documents")
async def show_documents(
    corpus: CorpusName, access: Reads, service: TheService, request: Request
) -> Response:
    """List the documents of a corpus by title."""

    def look() -> dict[str, Any]:
        documents = list_documents(service.database, corpus)
        return {
            "documents": [document_record(each) for each in documents[:_DOCUMENTS]],
            "found": len(documents),
        }

    return await _looked_up(service, request, service.for_corpus(access, corpus, look))


@router.get("/documents/{id}")
async def show_document(
    id: str, corpus: CorpusName, access: Reads, service: TheService, request: Request
) -> Response:
    """Return a document with all of its passages, and its tables."""

    def look() -> dict[str, Any]:
        passages = list_passages(service.database, corpus, id, _PASSAGES)
        if not passages:
            raise missing("document", id[:64])
        return {
            "id": id,
            "title": passages[0].title,
            "passages": [passage_record(each) for each in passages],
            "tables": [asdict(each) for each in list_tables(service.database, corpus, id)],
        }

    return await _looked_up(service, request, service.for_corpus(access, corpus, look))


@router.delete("/documents/{id}")
async def drop_document(
    id: str, corpus: CorpusName, access: Loads, service: TheService
) -> Response:
    """Delete a document with its passages, pages and tables."""

    def delete() -> Any:
        if id not in {each.id for each in list_documents(service.database, corpus)}:
            raise missing("document", id[:64])
        return delete_document(service.database, corpus, id)

    return await _changed(service, access, corpus, delete)


@router.get("/traces")
async def show_traces(
    corpus: CorpusName, access: Reads, service: TheService, request: Request
) -> Response:
    """List the kept traversals of a corpus, the latest first."""

    def look() -> dict[str, Any]:
        kept = traces(service.database, corpus, limit=_TRACES)
        return {"traces": [asdict(each) for each in kept]}

    return await _looked_up(service, request, service.for_corpus(access, corpus, look))


@router.get("/traces/{id}")
async def show_trace(
    id: str, corpus: CorpusName, access: Reads, service: TheService, request: Request
) -> Response:
    """Return a kept traversal: the answer as it was, with the passages that are still there."""

    def look() -> dict[str, Any]:
        trace = _trace(service, corpus, id)
        return {"id": id, "asked_at": trace.asked_at, "answer": answer_record(trace.answer)}

    return await _looked_up(service, request, service.for_corpus(access, corpus, look))


@router.delete("/traces/{id}")
async def drop_trace(id: str, corpus: CorpusName, access: Loads, service: TheService) -> Response:
    """Remove a kept traversal."""

    def delete() -> dict[str, Any]:
        _trace(service, corpus, id)
        return {"removed": remove(service.database, [id], corpus=corpus)}

    return await _changed(service, access, corpus, delete)


def _trace(service: Service, corpus: str, key: str) -> Replay:
    """Return a trace of a corpus; one of another corpus is missing like one that nobody kept.

    A key may be the beginning of an id elsewhere; here it is the whole.
    """
    try:
        trace = explain(service.database, key)
    except TraceError:
        raise missing("trace", key[:64]) from None
    if trace.answer.corpus != corpus or trace.id != key:
        raise missing("trace", key[:64])
    return trace


async def _looked_up(
    service: Service, request: Request, look: Callable[[], dict[str, Any]]
) -> Response:
    job = service.question_job(request.state.id)
    return json_response(await while_connected(request, service.questions.begin(job, look)))


async def _changed(
    service: Service, access: Access, corpus: str, change: Callable[[], Any]
) -> Response:
    """Do what changes a corpus, after the loads that were there before, and to its end."""
    checked = service.for_corpus(access, corpus, change)
    return json_response(await service.loads.begin(Job(), checked))
