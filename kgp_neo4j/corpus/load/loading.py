"""Load files, one after another, into one corpus."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.load.delete import discard_import
from kgp_neo4j.corpus.load.formats import read
from kgp_neo4j.corpus.load.ids import checked_corpus
from kgp_neo4j.corpus.load.own_indexes import make_text_index
from kgp_neo4j.corpus.load.rows import unusual_columns
from kgp_neo4j.corpus.load.write import batches, write
from kgp_neo4j.environment.files import find, shown, size_on_disk
from kgp_neo4j.environment.progress import Progress, bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.text.language import DEFAULT_LANGUAGE, guess_language, languages
from kgp_neo4j.types.checks import check_choice
from kgp_neo4j.types.corpus import LoadReport, SourceDocument
from kgp_neo4j.types.errors import ConfigurationError, InputError


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
    checked_corpus(corpus)
    if passage_size is not None and passage_size < 1:
        what = f"a passage cannot have {passage_size} characters"
        raise ConfigurationError(what, hint="Use a size of at least 1.")
    if language is not None:
        check_choice("language", language, languages())
    inputs = find(paths)
    errors = inputs.errors
    if errors and not keep_going:
        raise errors[0]
    discard_import(database, corpus)
    counts: Counter[str] = Counter()
    faulty: set[Path] = set()
    left_out: list[str] = []
    notes: list[str] = []
    spoken = ""

    def documents(progress: Progress) -> Iterator[SourceDocument]:
        for path in inputs.files:
            for reading in read(path, progress):
                if isinstance(reading, SourceDocument):
                    told = (*reading.left_out, *unusual_columns(reading.tables))
                    left_out.extend(f"{shown(path)}: {what}" for what in told)
                    notes.extend(f"{shown(path)}: {what}" for what in reading.notes)
                    yield reading
                elif keep_going:
                    errors.append(reading)
                    faulty.add(path)
                else:
                    on = (
                        f"{counts['documents']:,} documents are loaded; loading again goes on "
                        "from there, and --keep-going loads the rest without this."
                    )
                    hint = f"{reading.hint} {on}" if reading.hint else on
                    raise InputError(reading.what, where=reading.where, hint=hint) from reading

    with bar("load", sum(map(size_on_disk, inputs.files)), bytes_=True) as progress:
        for batch in batches(corpus, documents(progress)):
            spoken = spoken or language_of(database, corpus, language, batch.values())
            counts.update(write(database, corpus, batch, passage_size, spoken))
    return LoadReport(
        corpus=corpus,
        files=len(inputs.files) - len(faulty),
        errors=tuple(map(str, errors)),
        ignored=tuple(map(shown, inputs.ignored)),
        left_out=tuple(left_out),
        notes=tuple(notes),
        seconds=round(time.monotonic() - began, 3),
        language=spoken,
        **dict[str, Any](counts),
    )


def language_of(
    database: Database, corpus: str, asked: str | None, documents: Iterable[SourceDocument]
) -> str:
    """Return the corpus's language, and make its full-text index where there is none yet.

    Of a new corpus it is `asked`, else guessed from its first `documents`. Raises
    ConfigurationError where the corpus has another language than the one asked for.
    """
    if stored := database.read("inspect/state", corpus=corpus):
        known: str = stored[0]["language"]
        if asked not in (None, known):
            raise ConfigurationError(
                f"the corpus {corpus!r} is in {known}, not {asked}",
                hint="Load into another corpus, or delete this one first.",
            )
        return known
    chosen = asked or guess_language(document.text for document in documents)
    if chosen != DEFAULT_LANGUAGE:
        make_text_index(database, chosen, chosen)
        database.read("install/await_indexes")
    return chosen
