"""Corpora, their documents and their traces: listed, shown and deleted."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response

from kgp_neo4j.corpus.answer.traces import Replay, explain, remove, traces
from kgp_neo4j.corpus.load.delete import delete_corpus, delete_document
from kgp_neo4j.corpus.load.kept_files import file_content
from kgp_neo4j.corpus.load.listing import corpora, list_documents, list_passages, list_tables
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.serve.access import Administers, Caller, CorpusName, Loads, Reads
from kgp_neo4j.serve.answers import answer_record, document_record, passage_record
from kgp_neo4j.serve.problems import ProblemError, missing
from kgp_neo4j.serve.tokens import RIGHTS
from kgp_neo4j.show.page_pictures import describe_page, draw_page
from kgp_neo4j.types.errors import CorpusError, TraceError
from kgp_neo4j.types.tables import ends_apart

#: Passages of a document, documents of a corpus and traces that one response has at most.
_PASSAGES, _DOCUMENTS, _TRACES = 5000, 10_000, 200

_Number = Annotated[int, Path(ge=1, le=1_000_000, description="The page's number, from 1.")]
_Scale = Annotated[float, Query(ge=0.1, le=8, description="Dots a point; fewer of large pages.")]
_Words = Annotated[
    tuple[Annotated[str, Query(max_length=10_000)], ...],
    Query(max_length=100, description="A sentence, an answer, or the text of a cell."),
]

router = APIRouter(tags=["documents"])


@router.get("/corpora")
async def list_corpora(caller: Reads) -> Response:
    """List the corpora and knowledge graphs that the token sees, and what it may do."""
    service, access = caller.service, caller.access

    def look() -> dict[str, Any]:
        database = service.database
        return {
            "corpora": [each for each in corpora(database) if access.sees("corpus", each.name)],
            "graphs": [each for each in graphs(database) if access.sees("graph", each.name)],
            "rights": [right for right in RIGHTS if right in access.rights],
            "model": service.model.name if service.model else None,
            "upload": service.settings.upload,
        }

    return await caller.look(look)


@router.delete("/corpora/{name}")
async def drop_corpus(name: str, caller: Administers) -> Response:
    """Delete a corpus with everything in it."""
    database = caller.service.database
    return await caller.change(caller.seeing("corpus", name, lambda: delete_corpus(database, name)))


@router.get("/documents")
async def show_documents(corpus: CorpusName, caller: Reads) -> Response:
    """List the documents of a corpus by title."""

    def look() -> dict[str, Any]:
        database = caller.service.database
        documents = list_documents(database, corpus)
        apart = ends_apart((each.title, each.source) for each in documents)
        records = [
            document_record(each, apart.get((each.title, each.source), ""))
            for each in documents[:_DOCUMENTS]
        ]
        return {"documents": records, "found": len(documents)}

    return await caller.look(caller.seeing("corpus", corpus, look))


@router.get("/documents/{id}")
async def show_document(id: str, corpus: CorpusName, caller: Reads) -> Response:
    """Return a document with all of its passages, and its tables."""
    database = caller.service.database

    def look() -> dict[str, Any]:
        passages = list_passages(database, corpus, id, _PASSAGES)
        if not passages:
            raise missing("document", id[:64])
        return {
            "id": id,
            "title": passages[0].name,
            "passages": [passage_record(each) for each in passages],
            "tables": list_tables(database, corpus, id),
        }

    return await caller.look(caller.seeing("corpus", corpus, look))


@router.get("/documents/{id}/pages/{number}.png", response_class=Response)
async def show_picture(
    id: str, number: _Number, corpus: CorpusName, caller: Reads, scale: _Scale = 1.5
) -> Response:
    """Return a page of a PDF file as a picture, of `scale` dots a point."""

    def draw(_: Row, content: bytes) -> Response:
        # Somebody else at the same browser may have another token.
        headers = {"cache-control": "private, max-age=600", "vary": "authorization"}
        return Response(draw_page(content, number, scale), headers=headers, media_type="image/png")

    return await _look_at_page(caller, corpus, id, number, draw)


@router.get("/documents/{id}/pages/{number}")
async def show_page(
    id: str,
    number: _Number,
    corpus: CorpusName,
    caller: Reads,
    passage: str = "",
    words: _Words = (),
    view: Literal["", "read"] = "",
) -> Response:
    """Return the size of a PDF file's page, and where a passage and words stand on it, in points.

    Each of `marks` has boxes of left, top, right and bottom, none where nothing was found. With
    `view=read`, `parts` are the passages, headings and tables as the page was read.
    """

    def describe(page: Row, content: bytes) -> dict[str, Any]:
        return describe_page(content, number, page, passage, words, view == "read")

    return await _look_at_page(caller, corpus, id, number, describe)


async def _look_at_page(
    caller: Caller, corpus: str, id: str, number: int, work: Callable[[Row, bytes], Any]
) -> Response:
    """Answer with what `work` makes of a page as stored and its file; 404 where that is gone."""
    database = caller.service.database

    def look() -> Any:
        rows = database.read("inspect/page", corpus=corpus, document=id, number=number)
        if not rows:
            raise ProblemError(404, f"there is no document of this id with a page {number}")
        page = rows[0]
        content = page["hash"] and file_content(database, corpus, page["hash"], page["sources"])
        if not content:
            what = "the document's file is no PDF, or is not there any more as it was loaded"
            raise ProblemError(404, what, "Load the PDF file again to see its pages.")
        try:
            return work(page, content)
        except CorpusError as error:  # PDFium cannot show what another library could read
            raise ProblemError(404, error.what, "The text of the document is there.") from error

    return await caller.look(caller.seeing("corpus", corpus, look))


@router.delete("/documents/{id}")
async def drop_document(id: str, corpus: CorpusName, caller: Loads) -> Response:
    """Delete a document with its passages, pages and tables."""
    database = caller.service.database

    def delete() -> Any:
        if id not in {each.id for each in list_documents(database, corpus)}:
            raise missing("document", id[:64])
        return delete_document(database, corpus, id)

    return await caller.change(caller.seeing("corpus", corpus, delete))


@router.get("/traces")
async def show_traces(corpus: CorpusName, caller: Reads) -> Response:
    """List the kept traversals of a corpus, the latest first."""

    def look() -> dict[str, Any]:
        return {"traces": traces(caller.service.database, corpus, limit=_TRACES)}

    return await caller.look(caller.seeing("corpus", corpus, look))


@router.get("/traces/{id}")
async def show_trace(id: str, corpus: CorpusName, caller: Reads) -> Response:
    """Return a kept traversal: the answer as it was, with the passages that are still there."""

    def look() -> dict[str, Any]:
        trace = _trace(caller.service.database, corpus, id)
        return {"id": id, "asked_at": trace.asked_at, "answer": answer_record(trace.answer)}

    return await caller.look(caller.seeing("corpus", corpus, look))


@router.delete("/traces/{id}")
async def drop_trace(id: str, corpus: CorpusName, caller: Loads) -> Response:
    """Remove a kept traversal."""
    database = caller.service.database

    def delete() -> dict[str, Any]:
        _trace(database, corpus, id)
        return {"removed": remove(database, [id], corpus=corpus)}

    return await caller.change(caller.seeing("corpus", corpus, delete))


def _trace(database: Database, corpus: str, key: str) -> Replay:
    """Return a trace of a corpus; one of another corpus is missing like one that nobody kept.

    A key may be the beginning of an id elsewhere; here it is the whole.
    """
    try:
        trace = explain(database, key)
    except TraceError:
        raise missing("trace", key[:64]) from None
    if trace.answer.corpus != corpus or trace.id != key:
        raise missing("trace", key[:64])
    return trace
