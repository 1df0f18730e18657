"""Corpora, their documents and their traces: listed, shown and deleted."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response

from kgp_neo4j.corpus.answer.traces import Replay, explain, remove, traces
from kgp_neo4j.corpus.load.stored import (
    corpora,
    delete_corpus,
    delete_document,
    file_content,
    list_documents,
    list_passages,
    list_tables,
)
from kgp_neo4j.environment.apart import Limits, Workers
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.serve.bodies import ProblemError, missing
from kgp_neo4j.serve.questions import answer_record, document_record, passage_record
from kgp_neo4j.serve.service import Administers, CorpusName, Loads, Reads, handles
from kgp_neo4j.serve.tokens import RIGHTS
from kgp_neo4j.types.errors import CorpusError, InputError, TraceError
from kgp_neo4j.types.tables import ends_apart

_Number = Annotated[int, Path(ge=1, le=1_000_000, description="The page's number, from 1.")]
_Scale = Annotated[float, Query(ge=0.1, le=8, description="Dots a point; fewer of large pages.")]
_Words = Annotated[
    tuple[Annotated[str, Query(max_length=10_000)], ...],
    Query(max_length=100, description="A sentence, an answer, or the text of a cell."),
]

#: Pages are drawn in processes of their own, and for so many seconds of processor time.
_PAGES = Workers("kgp_neo4j.show.page_pictures", most=2)
_SECONDS = 10

router = APIRouter(tags=["documents"])


@router.get("/corpora")
@handles
def list_corpora(caller: Reads) -> Any:
    """List the corpora and knowledge graphs that the token sees, and what it may do."""
    service, access = caller.service, caller.access
    return {
        "corpora": [each for each in corpora(service.database) if access.sees("corpus", each.name)],
        "graphs": [each for each in graphs(service.database) if access.sees("graph", each.name)],
        "rights": [right for right in RIGHTS if right in access.rights],
        "models": [model.name for model in service.models],
        "upload": service.settings.upload,
    }


@router.delete("/corpora/{name}")
async def drop_corpus(name: str, caller: Administers) -> Response:
    """Delete a corpus with everything in it."""
    database = caller.service.database
    return await caller.change(caller.seeing("corpus", name, lambda: delete_corpus(database, name)))


@router.get("/documents")
@handles
def show_documents(corpus: CorpusName, caller: Reads) -> Any:
    """List the documents of a corpus by title."""
    documents = list_documents(caller.service.database, corpus)
    apart = ends_apart((each.title, each.source) for each in documents)
    shown = documents[:10_000]
    records = [document_record(each, apart.get((each.title, each.source), "")) for each in shown]
    return {"documents": records, "found": len(documents)}


@router.get("/documents/{id}")
@handles
def show_document(id: str, corpus: CorpusName, caller: Reads) -> Any:
    """Return a document with its passages and tables, and whether its pages can be `pictured`."""
    database = caller.service.database
    passages = list_passages(database, corpus, id, 5000)
    if not passages:
        raise missing("document", id[:64])
    first = {"corpus": corpus, "document": id, "number": passages[0].page or 1}
    return {
        "id": id,
        "title": passages[0].name,
        "pictured": any(row["hash"] for row in database.read("inspect/page", **first)),
        "passages": [passage_record(each) for each in passages],
        "tables": list_tables(database, corpus, id),
    }


@router.get("/documents/{id}/pages/{number}.png", response_class=Response)
@handles
def show_picture(
    id: str, number: _Number, corpus: CorpusName, caller: Reads, scale: _Scale = 1.5
) -> Response:
    """Return a page of a PDF file as a picture, of `scale` dots a point."""
    with _page(caller.service.database, corpus, id, number) as (_, content):
        picture = _PAGES.result(bytes, _limits(content), "draw_page", content, number, scale)
    # Somebody else at the same browser may have another token.
    headers = {"cache-control": "private, max-age=600", "vary": "authorization"}
    return Response(picture, headers=headers, media_type="image/png")


@router.get("/documents/{id}/pages/{number}")
@handles
def show_page(
    id: str,
    number: _Number,
    corpus: CorpusName,
    caller: Reads,
    passage: str = "",
    words: _Words = (),
    view: Literal["", "read"] = "",
) -> Any:
    """Return the size of a PDF file's page, and where a passage and words stand on it, in points.

    Each of `marks` has boxes of left, top, right and bottom, none where nothing was found. With
    `view=read`, `parts` are the passages, headings and tables as the page was read.
    """
    with _page(caller.service.database, corpus, id, number) as (page, content):
        asked = content, number, page, passage, words, view == "read"
        return _PAGES.result(dict[str, Any], _limits(content), "describe_page", *asked)


@contextmanager
def _page(database: Database, corpus: str, id: str, number: int) -> Iterator[tuple[Row, bytes]]:
    """Yield a page as stored and the file that it is in; the problem 404 where that is gone."""
    rows = database.read("inspect/page", corpus=corpus, document=id, number=number)
    if not rows:
        raise ProblemError(404, f"there is no document of this id with a page {number}")
    page = rows[0]
    content = page["hash"] and file_content(database, corpus, page["hash"], page["sources"])
    if not content:
        what = "the document's file is no PDF, or is not there any more as it was loaded"
        raise ProblemError(404, what, "Load the PDF file again to see its pages.")
    try:
        yield page, content
    except (CorpusError, InputError) as error:  # PDFium cannot show it, or not in time
        raise ProblemError(404, error.what, "The text of the document is there.") from error


def _limits(content: bytes) -> Limits:
    """Return what drawing a page of a file may take: no page that people look at takes so long."""
    return Limits(_SECONDS, _SECONDS, (1 << 30) + 8 * len(content))


@router.delete("/documents/{id}")
@handles
def drop_document(id: str, corpus: CorpusName, caller: Loads) -> Any:
    """Delete a document with its passages, pages and tables."""
    if id not in {each.id for each in list_documents(caller.service.database, corpus)}:
        raise missing("document", id[:64])
    return delete_document(caller.service.database, corpus, id)


@router.get("/traces")
@handles
def show_traces(corpus: CorpusName, caller: Reads, words: str = "") -> Any:
    """List the kept traversals of a corpus with these words, the latest first."""
    found = traces(caller.service.database, corpus, words=words.split(), limit=200)
    return {"traces": found}


@router.get("/traces/{id}")
@handles
def show_trace(id: str, corpus: CorpusName, caller: Reads) -> Any:
    """Return a kept traversal: the answer as it was, with the passages that are still there."""
    trace = _trace(caller.service.database, corpus, id)
    return {"id": id, "asked_at": trace.asked_at, "answer": answer_record(trace.answer)}


@router.delete("/traces/{id}")
@handles
def drop_trace(id: str, corpus: CorpusName, caller: Loads) -> Any:
    """Remove a kept traversal."""
    _trace(caller.service.database, corpus, id)
    return {"removed": remove(caller.service.database, [id], corpus=corpus)}


def _trace(database: Database, corpus: str, key: str) -> Replay:
    """Return a trace by its whole id; one of another corpus is missing like one never kept."""
    with suppress(TraceError):
        trace = explain(database, key)
        if trace.answer.corpus == corpus and trace.id == key:
            return trace
    raise missing("trace", key[:64])
