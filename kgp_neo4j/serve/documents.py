"""Corpora, their documents and their traces: uploaded, listed, shown and deleted."""

import asyncio
import json
import os
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import fastapi
import regex
from fastapi import APIRouter, Query, Request, Response

from kgp_neo4j.corpus.answer.traces import Replay, explain, remove, traces
from kgp_neo4j.corpus.connect.graphs import connect as make_graphs
from kgp_neo4j.corpus.load import stored
from kgp_neo4j.corpus.load.ids import checked_corpus, corpus_scope
from kgp_neo4j.corpus.load.loading import Followed, load
from kgp_neo4j.environment.apart import Limits, Workers
from kgp_neo4j.environment.job import Job, tell
from kgp_neo4j.environment.kinds import endings, extension
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.serve.bodies import ProblemError, UploadedFolder, busy, missing
from kgp_neo4j.serve.connections import event_response, json_response, wants_events
from kgp_neo4j.serve.questions import answer_record, document_record, passage_record
from kgp_neo4j.serve.service import Administers, CorpusName, Loads, Reads, Service, handles
from kgp_neo4j.serve.tokens import RIGHTS
from kgp_neo4j.text.safe import plain, to_json
from kgp_neo4j.types.errors import CorpusError, InputError, TraceError
from kgp_neo4j.types.tables import ends_apart

_Number = Annotated[int, fastapi.Path(ge=1, le=1_000_000, description="The page's number, from 1.")]
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
    all_corpora = stored.corpora(service.database)
    return {
        "corpora": [each for each in all_corpora if access.sees("corpus", each.name)],
        "graphs": [each for each in graphs(service.database) if access.sees("graph", each.name)],
        "rights": [right for right in RIGHTS if right in access.rights],
        "models": [model.name for model in service.models],
        "upload": service.settings.upload,
    }


@router.delete("/corpora/{name}")
async def drop_corpus(name: str, caller: Administers) -> Response:
    """Delete a corpus with everything in it."""
    delete = partial(stored.delete_corpus, caller.service.database, name)
    return await caller.change(caller.seeing("corpus", name, delete))


@router.get("/documents")
@handles
def show_documents(corpus: CorpusName, caller: Reads) -> Any:
    """List the documents of a corpus by title."""
    documents = stored.list_documents(caller.service.database, corpus)
    apart = ends_apart((each.title, each.source) for each in documents)
    shown = documents[:10_000]
    records = [document_record(each, apart.get((each.title, each.source), "")) for each in shown]
    return {"documents": records, "found": len(documents)}


@router.get("/documents/{id}")
@handles
def show_document(id: str, corpus: CorpusName, caller: Reads) -> Any:
    """Return a document with its passages and tables, and whether its pages can be `pictured`."""
    database = caller.service.database
    passages = stored.list_passages(database, corpus, id, 5000)
    if not passages:
        raise missing("document", id[:64])
    first = {"corpus": corpus, "document": id, "number": passages[0].page or 1}
    return {
        "id": id,
        "title": passages[0].name,
        "pictured": any(row["hash"] for row in database.read("inspect/page", **first)),
        "passages": [passage_record(each) for each in passages],
        "tables": stored.list_tables(database, corpus, id),
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
    content = page["hash"] and stored.file_content(database, corpus, page["hash"], page["sources"])
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
    if id not in {each.id for each in stored.list_documents(caller.service.database, corpus)}:
        raise missing("document", id[:64])
    return stored.delete_document(caller.service.database, corpus, id)


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


# --- Uploads: a file's bytes in; its documents in a corpus out, once they are stored ---

_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
#: Folders within each other at most.
_DEEPEST = 20


@router.post(
    "/documents",
    status_code=201,
    openapi_extra={"requestBody": {"required": True, "content": _BYTES}},
)
async def upload(
    corpus: CorpusName, caller: Loads, name: str = "", folder: str = "", connect: bool = True
) -> Response:
    """Load the file that is the body into a corpus, and connect it; `name` is the file's name.

    Files of one name are told apart by the `folder` that they come from ("notes/2024").
    It is answered once everything is stored; as events, with the progress before that: `progress`,
    `loaded`, `done` or `error`. With `connect=false` the passages stay unconnected.
    """
    service, request = caller.service, caller.request
    checked_corpus(corpus)
    own = service.folder / corpus_scope(corpus)
    place = _place(own, folder, name)
    if not caller.access.sees("corpus", corpus):
        # To make a corpus one must be allowed its name, so there is nothing to hide.
        raise ProblemError(403, "the token may not load into this corpus")
    if service.receiving.locked():
        raise busy(5)
    async with service.receiving:
        file = await _received(service, request, place.name)

    def store() -> dict[str, Any]:
        # The folder belongs to the corpus: the same file again replaces its documents.
        try:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.replace(place)
            report = to_json(load(service.database, [place], corpus, strict=True))
            # Where the file lay is nothing to the client.
            loaded = json.loads(report.replace(f"{own}{os.sep}", ""))
            if not service.settings.forget_uploads:
                stored.keep_file(service.database, corpus, place)
            stored.forget_files(service.database, corpus)
            tell("loaded", lambda: loaded)
            seconds = make_graphs(service.database, corpus).seconds["all"] if connect else None
        finally:
            file.unlink(missing_ok=True)
            place.unlink(missing_ok=True)
        return {"loaded": loaded, "connected": connect, "seconds": seconds}

    try:
        if wants_events(request):
            # Whoever leaves now still has the file loaded.
            return event_response(service.loads.events(Job(), store, last="done", keep=True))
        waiting = service.loads.begin(Job(), store)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    return json_response(await waiting, 201)


@router.post("/folders")
async def follow(body: UploadedFolder, caller: Loads) -> Response:
    """Tell which files of a folder are gone since it was loaded before; `prune` removes them."""
    service = caller.service
    own = service.folder / corpus_scope(body.corpus)
    folder = own.joinpath(*_folder_parts(body.folder))
    files = set()
    for each in body.files:
        inside, _, name = each.replace("\\", "/").rpartition("/")
        with suppress(ProblemError):  # one of another kind was never loaded
            files.add(str(_place(own, inside, name)))

    def settle() -> dict[str, Any]:
        followed = Followed(service.database, body.corpus, {str(folder): files})
        followed.settle(body.prune)
        stored.forget_files(service.database, body.corpus)
        both = {"gone": followed.gone, "pruned": followed.pruned}
        prefix = f"{own}{os.sep}"
        return {key: [each.removeprefix(prefix) for each in some] for key, some in both.items()}

    return await caller.change(caller.seeing("corpus", body.corpus, settle))


async def _received(service: Service, request: Request, name: str) -> Path:
    """Write the body to a file and return its path; raises ProblemError where it is too large."""
    limit = service.settings.upload * 2**20
    too_large = ProblemError(413, f"the file is larger than {service.settings.upload} MB")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise too_large
    path = service.folder / f"incoming-{request.state.id}"
    try:
        service.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=False)
        with path.open("wb") as file:
            async for piece in request.stream():
                if file.tell() + len(piece) > limit:
                    raise too_large
                await asyncio.to_thread(file.write, piece)
            if not file.tell():
                raise ProblemError(400, f"{name}: the file is empty")
    except BaseException as error:
        path.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise ProblemError(507, "the file cannot be kept") from error
    return path


def file_name(given: str) -> str:
    """Return the name under which an uploaded file is kept and cited: no path, no surprises.

    Letters, digits, marks, spaces and `._-()` stay; ProblemError if it has no known ending.
    """
    kept = _plain_name(given.replace("\\", "/").rpartition("/")[2])
    ending = extension(Path(kept))
    at = kept.lower().rfind(ending) if ending else 0
    if at < 1:
        what = f"no kind of file that can be loaded: {kept or '(no name)'}"
        hint = f"Give a name with one of these endings: {' '.join(endings())}."
        raise ProblemError(415, what, hint)
    stem, tail = kept[:at], kept[at:]
    # File systems take a few more bytes than these 120.
    return stem.encode()[: 120 - len(tail)].decode(errors="ignore").rstrip() + tail


def _place(own: Path, folder: str, name: str) -> Path:
    """Return where a file lies while it is loaded, which its documents keep as their source."""
    return own.joinpath(*_folder_parts(folder), file_name(name))


def _folder_parts(given: str) -> list[str]:
    """Return the names of a path below a corpus's own folder: it leads nowhere else."""
    names = (_plain_name(part).strip() for part in given.replace("\\", "/").split("/"))
    parts = [name.encode()[:120].decode(errors="ignore") for name in names if name]
    if len(parts) > _DEEPEST:
        raise ProblemError(400, f"a folder more than {_DEEPEST} folders deep")
    return parts


def _plain_name(name: str) -> str:
    normal = unicodedata.normalize("NFC", plain(name))
    kept: str = regex.sub(r"[^\p{L}\p{M}\p{N} ._()-]", "_", normal).lstrip(". ")
    return kept
