"""Uploads: a file's bytes in; its documents in a corpus out, once they are stored."""

import asyncio
import json
import os
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import Any

import regex
from fastapi import APIRouter, Request, Response

from kgp_neo4j.corpus.connect.graphs import connect as make_graphs
from kgp_neo4j.corpus.load.ids import checked_corpus, corpus_scope
from kgp_neo4j.corpus.load.loading import Followed, load
from kgp_neo4j.corpus.load.stored import forget_files, keep_file
from kgp_neo4j.environment.job import Job, tell
from kgp_neo4j.environment.kinds import EXTENSIONS, extension
from kgp_neo4j.serve.bodies import ProblemError, UploadedFolder, busy
from kgp_neo4j.serve.connections import event_response, json_response, wants_events
from kgp_neo4j.serve.service import CorpusName, Loads, Service
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.json_records import to_json

_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
#: Folders within each other at most.
_DEEPEST = 20

router = APIRouter(tags=["documents"])


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
                keep_file(service.database, corpus, place)
            forget_files(service.database, corpus)
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
        forget_files(service.database, body.corpus)
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
        hint = f"Give a name with one of these endings: {' '.join(EXTENSIONS)}."
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
