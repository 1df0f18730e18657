"""Load files, one after another, into one corpus."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from kgp_neo4j.corpus.load.delete import discard_import
from kgp_neo4j.corpus.load.source import Source, find_files
from kgp_neo4j.corpus.load.write import Written, batches, write
from kgp_neo4j.environment.files import shown, size_on_disk
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.text.language import DEFAULT_LANGUAGE, guess_language
from kgp_neo4j.types.corpus import LoadReport, SourceDocument
from kgp_neo4j.types.errors import ConfigurationError, InputError

__all__ = ["language_of", "load"]


def load(
    database: Database,
    paths: Iterable[str | Path],
    corpus: str,
    *,
    passage_size: int | None = None,
    language: str | None = None,
    keep_going: bool = False,
) -> LoadReport:
    """Load files, folders and globs into a corpus and report the result.

    `passage_size` is in characters; by default files are split at 1,000 and records of up to 10,000
    stay one passage. `language` is what full-text search stems, one of `languages()`; by default it
    is guessed from the first documents of a new corpus. Loading again changes nothing, and finishes
    a load that was interrupted. The first bad file or line raises InputError, and everything
    committed before stays; with `keep_going` the rest is loaded and the report lists the errors.
    """
    began = time.monotonic()
    found = find_files(
        paths, corpus, passage_size=passage_size, language=language, keep_going=keep_going
    )
    discard_import(database, corpus)
    source = Source(found.files, keep_going)
    done = Written()
    spoken = ""
    with bar("load", sum(map(size_on_disk, found.files)), bytes_=True) as progress:
        try:
            for batch in batches(corpus, source.documents(progress)):
                if not spoken:
                    spoken = language_of(database, corpus, language, batch.values())
                done += write(database, corpus, batch, passage_size, spoken)
        except InputError as error:
            raise _stopped(error, done.documents) from error
    return LoadReport(
        corpus=corpus,
        files=source.files,
        errors=(*map(str, found.errors), *source.errors),
        ignored=tuple(shown(path) for path in found.ignored),
        left_out=tuple(source.left_out),
        seconds=round(time.monotonic() - began, 3),
        language=spoken,
        **asdict(done),
    )


def language_of(
    database: Database, corpus: str, asked: str | None, documents: Iterable[SourceDocument]
) -> str:
    """Return the corpus's language, and make its full-text index where there is none yet.

    Of a new corpus it is `asked`, else guessed from its first `documents`. Raises
    ConfigurationError where the corpus has another language than the one asked for.
    """
    if stored := database.read("load/language", corpus=corpus):
        found: str = stored[0]["language"]
        if asked not in (None, found):
            raise ConfigurationError(
                f"the corpus {corpus!r} is in {found}, not {asked}",
                hint="Load into another corpus, or delete this one first.",
            )
        return found
    chosen = asked or guess_language(document.text for document in documents)
    if chosen != DEFAULT_LANGUAGE:
        database.make_indexes("load/language_index", language=chosen)
        database.read("install/await_indexes")
    return chosen


def _stopped(error: InputError, documents: int) -> InputError:
    """Return the error with the number of documents loaded before it and how to continue."""
    hint = (
        f"{documents:,} documents are loaded; loading again goes on from there, and --keep-going "
        "loads the rest without this."
    )
    return InputError(
        error.what, where=error.where, hint=f"{error.hint} {hint}" if error.hint else hint
    )
