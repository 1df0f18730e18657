"""Uploads: a file's bytes in; its documents in a corpus out, once they are stored."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import secrets
import unicodedata
from collections.abc import AsyncGenerator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.ids import checked_corpus, corpus_scope
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.environment.files import EXTENSIONS, extension
from kgp_neo4j.environment.job import Job, tell
from kgp_neo4j.graphdb.async_store import Told, events_of, listen
from kgp_neo4j.serve.bodies import pieces
from kgp_neo4j.serve.problems import ProblemError, problem_of
from kgp_neo4j.serve.questions import json_response
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.stream import EventResponse
from kgp_neo4j.serve.tokens import Access
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.json_records import to_json

with needs("serve", "the service"):
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["file_name", "upload"]

#: Most bytes of a file's name: what file systems take, with room for an ending.
_LONGEST = 120
_MEGABYTE = 1024 * 1024


async def upload(service: Service, access: Access, request: Request) -> Response:
    """Load the file that is the body into a corpus, and connect it; `name` is the file's name.

    It is answered once everything is stored; as events, with the progress before that. With
    `connect=false` the passages stay unconnected.
    """
    corpus = request.query_params.get("corpus", "")
    name = file_name(request.query_params.get("name", ""))
    joined = request.query_params.get("connect", "true") != "false"
    checked_corpus(corpus)
    if not access.sees("corpus", corpus):
        # To make a corpus one must be allowed its name, so there is nothing to hide.
        raise ProblemError(403, "the token may not load into this corpus")
    file = await _received(service, request, name)

    def work() -> dict[str, Any]:
        # The folder belongs to the corpus: the same file again replaces its documents.
        folder = service.settings.folder / corpus_scope(corpus)
        place = folder / name
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            file.replace(place)
            report = load(service.database, [place], corpus)
            tell("loaded", lambda: _told(report, folder))
            seconds = connect(service.database, corpus).seconds["all"] if joined else None
        finally:
            file.unlink(missing_ok=True)
            place.unlink(missing_ok=True)
        return {"loaded": _told(report, folder), "connected": joined, "seconds": seconds}

    job = Job()
    told = listen(job)
    try:
        waiting = service.loads.begin(job, work)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    if "text/event-stream" in request.headers.get("accept", ""):
        return EventResponse(_events(told, waiting))
    return json_response(await waiting, 201)


async def _events(told: Told, waiting: Any) -> AsyncGenerator[tuple[str, Any]]:
    """Yield the progress of a load, and `done` once all of it is stored."""
    try:
        # Whoever leaves now still has the file loaded.
        async for event in events_of(told, waiting, last="done", keep=True):
            yield event
    except Exception as error:
        yield "error", problem_of(error).record()["error"]


def _told(report: Any, folder: Path) -> dict[str, Any]:
    """Return a report without the folder in which the file lay."""
    made: dict[str, Any] = json.loads(to_json(asdict(report)).replace(f"{folder}{os.sep}", ""))
    return made


async def _received(service: Service, request: Request, name: str) -> Path:
    """Write the body to a file and return its path; raises ProblemError where it is too large."""
    most = service.settings.upload * _MEGABYTE
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise _too_large(service)
    folder = service.settings.folder
    made = folder / f"incoming-{secrets.token_hex(8)}"
    size = 0
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for piece in pieces(request):
                size += len(piece)
                if size > most:
                    raise _too_large(service)
                await asyncio.to_thread(file.write, piece)
    except OSError as error:
        made.unlink(missing_ok=True)
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise ProblemError(507 if full else 500, "the file cannot be kept") from error
    except BaseException:
        made.unlink(missing_ok=True)
        raise
    if not size:
        made.unlink(missing_ok=True)
        raise ProblemError(400, f"{name}: the file is empty")
    return made


def _too_large(service: Service) -> ProblemError:
    return ProblemError(413, f"the file is larger than {service.settings.upload} MB")


def file_name(given: str) -> str:
    """Return the name under which an uploaded file is kept and cited: no path, no surprises.

    Letters, digits, marks, spaces and `._-()` stay; raises ProblemError for a name without one of
    the known endings.
    """
    last = given.replace("\\", "/").rpartition("/")[2]
    kept = "".join(
        c if c.isalnum() or unicodedata.category(c)[0] == "M" or c in " ._-()" else "_"
        for c in unicodedata.normalize("NFC", plain(last))
    )
    kept = " ".join(kept.split()).lstrip(". ")
    ending = extension(Path(kept))
    if not ending or kept.lower() == ending:
        raise ProblemError(
            415,
            f"no kind of file that can be loaded: {kept or '(no name)'}",
            f"Give a name with one of these endings: {' '.join(EXTENSIONS)}.",
        )
    whole = kept.lower()
    tail = kept[whole.rindex(ending) :]
    stem = kept[: len(kept) - len(tail)]
    return stem.encode()[: _LONGEST - len(tail)].decode(errors="ignore").rstrip() + tail
