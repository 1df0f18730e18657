"""Load files, one after another, into one corpus, and follow the folders that they are from."""

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from kgp_neo4j.corpus.load import stored
from kgp_neo4j.corpus.load.ids import checked_corpus
from kgp_neo4j.corpus.load.rows import unusual_columns
from kgp_neo4j.environment.apart import Workers
from kgp_neo4j.environment.files import find, is_gone, shown, size_on_disk, stem
from kgp_neo4j.environment.job import Progress, bar
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.text.words import languages
from kgp_neo4j.types.corpus import LoadReport, SourceDocument
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.settings import check_choice

#: Files are read in processes of their own: they may be made to hang or to crash what reads them.
_READERS = Workers("kgp_neo4j.corpus.load.formats")
#: Starts what reads files, for who does something else before a load: it is ready sooner.
start_reading = _READERS.start
#: Whether what files that are gone have left is removed: asked with their names, and whether a
#: folder has no file at all any longer.
Prune: TypeAlias = bool | Callable[[Sequence[str], bool], bool]


def load(
    database: Database,
    paths: Iterable[str | Path],
    corpus: str,
    *,
    passage_size: int | None = None,
    language: str | None = None,
    strict: bool = False,
    prune: Prune = False,
    follow_links: bool = False,
) -> LoadReport:
    """Load files, folders and globs into a corpus and report the result.

    `passage_size` is in characters; by default files are split at 1,000 and records of up to 10,000
    stay one passage. `language` is what full-text search stems, one of `languages()`; by default it
    is guessed for a new corpus. Loading again changes nothing, and finishes a load that was
    interrupted. The report lists files and lines that are bad; with `strict`, or where it would
    list nothing else, the first one raises InputError, and what was committed before stays. `prune`
    removes what is gone from a folder, or a function says whether to (`Prune`). Links out of a
    folder are followed with `follow_links` alone.
    """
    began = time.monotonic()
    start_reading()
    checked_corpus(corpus)
    if passage_size is not None and passage_size < 1:
        what = f"a passage cannot have {passage_size} characters"
        raise ConfigurationError(what, hint="Use a size of at least 1.")
    if language is not None:
        check_choice("language", language, languages())
    inputs = find(paths, follow_links=follow_links)
    errors = inputs.errors
    if errors and strict:
        raise errors[0]
    stored.discard_import(database, corpus)
    followed = Followed(database, corpus, inputs.folders)
    counts: Counter[str] = Counter()
    faulty, counted = set[Path](), set[str]()
    left_out, notes = list[str](), list[str]()
    spoken = ""

    def documents(progress: Progress) -> Iterator[SourceDocument]:
        for path in inputs.files:
            for reading in _readings(path, progress):
                if isinstance(reading, SourceDocument):
                    told = (*reading.notes, *unusual_columns(reading.tables))
                    notes.extend(f"{shown(path)}: {what}" for what in told)
                    left_out.extend(f"{shown(path)}: {what}" for what in reading.left_out)
                    yield reading
                    continue
                if strict:
                    done = f"{counts['documents']:,} documents are loaded"
                    on = f"{done}; loading again, without --strict, loads the rest."
                    hint = f"{reading.hint} {on}" if reading.hint else on
                    raise InputError(reading.what, where=reading.where, hint=hint) from reading
                errors.append(reading)
                faulty.add(path)

    with bar("load", sum(map(size_on_disk, inputs.files)), bytes_=True) as progress:
        for batch in stored.batches(corpus, documents(progress)):
            spoken = spoken or stored.language_of(database, corpus, language, batch.values())
            done = stored.write(
                database, corpus, batch, passage_size, spoken, counted, followed.moved
            )
            counts.update(done)
            followed.note()
    followed.settle(prune)
    if len(errors) == 1 and not counts["documents"] and not inputs.ignored and not followed.pruned:
        error = errors[0]
        if followed.gone:
            had = f"{len(followed.gone):,} files that it had are still in the corpus"
            hint = f"{error.hint or ''} {had}; loading it again with --prune --yes removes them."
            error = InputError(error.what, where=error.where, hint=hint)
        raise error
    return LoadReport(
        corpus=corpus,
        files=len(inputs.files) - len(faulty),
        errors=_grouped(map(str, errors)),
        ignored=tuple(f"{shown(path)}: {reason}" for path, reason in inputs.ignored.items()),
        left_out=_grouped(left_out),
        notes=_grouped(notes),
        gone=followed.gone,
        moved=tuple(f"{shown(Path(o))}: now {shown(Path(n))}" for o, n in followed.moved.items()),
        pruned=followed.pruned,
        seconds=round(time.monotonic() - began, 3),
        language=spoken,
        **dict[str, Any](counts),
    )


#: The number of a line or a page in what is said of it.
_NUMBERED = re.compile(r"(?<=:)\d+(?=: )|(?<=: page )\d+(?=: )")
_LISTED = 5


def _grouped(lines: Iterable[str]) -> tuple[str, ...]:
    """Return what is said of several lines or pages once, with their numbers."""
    groups: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        place = _NUMBERED.search(line)
        ends = (line[: place.start()], line[place.end() :]) if place else (line, "")
        groups.setdefault(ends, []).append(place[0] if place else "")
    said = []
    for (before, after), numbers in groups.items():
        more = f" and {len(numbers) - _LISTED:,} more" if len(numbers) > _LISTED else ""
        listed = f"{', '.join(numbers[:_LISTED])}{more}" if numbers[0] else ""
        times = f" ({len(numbers):,} times)" if len(numbers) > 1 and not listed else ""
        said.append(f"{before}{listed}{after}{times}")
    return tuple(said)


def _readings(path: Path, progress: Progress) -> Iterator[SourceDocument | InputError]:
    """Yield what a file holds, as that of the file which a link leads to, and its errors."""
    real = Path(os.path.realpath(path))
    for reading in _READERS.read(SourceDocument, [path], progress, "read", str(path)):
        if isinstance(reading, SourceDocument) and reading.source == path.as_posix():
            title = stem(real) if reading.title == stem(path) else reading.title
            reading = replace(reading, source=real.as_posix(), title=title)
        yield reading


# --- Folders ---


class Followed:
    """The folders of a load, by their paths, with the files that are found in them.

    `moved` has the files that are gone from them since the load before, each with the file that
    holds the same now, an empty text for none; `gone` and `pruned` are known after `settle`.
    """

    def __init__(self, database: Database, corpus: str, folders: Mapping[str, set[str]]) -> None:
        self._database, self._corpus, self._folders = database, corpus, folders
        self._before: dict[str, list[str]] = {}
        self._is_noted = False
        self.moved: dict[str, str] = {}
        self.gone: tuple[str, ...] = ()
        self.pruned: tuple[str, ...] = ()
        if folders:
            self._before = {each["folder"]: each["files"] for each in self._read()["folders"]}
        for path, files in self._before.items():
            self.moved |= {
                each: "" for each in files if each not in folders[path] and is_gone(each)
            }

    def _read(self) -> Row:
        names = {"folders": [*self._folders], "gone": [*self.moved]}
        return self._database.read("load/followed", corpus=self._corpus, **names)[0]

    def note(self, kept: Sequence[str] | None = None) -> None:
        """Note the files that the folders have and, of those before, `kept`: first all of them."""
        if self._folders and (kept is not None or not self._is_noted):
            rows = []
            for path, files in self._folders.items():
                before = self._before.get(path, ())
                left = before if kept is None else {*before}.intersection(kept)
                rows.append(
                    {"folder": path, "title": Path(path).name, "files": sorted(files.union(left))}
                )
            self._database.write("load/follow", corpus=self._corpus, folders=rows)
            self._is_noted = True

    def settle(self, prune: Prune) -> None:
        """Take the names that are gone off what is still there, and remove the rest if asked to."""
        lost: dict[str, list[str]] = {}
        left, copies = list[Row](), list[str]()
        for row in self._read()["documents"] if self.moved else ():
            for source in row["gone"]:
                if row["own"]:
                    left.append({"document": row["id"], "source": source})
                elif not row["others"]:
                    lost.setdefault(row["id"], []).append(source)
                self.moved[source] = self.moved[source] or next(iter(row["others"]), "")
            if row["others"] and not row["own"]:
                copies.append(row["id"])
        if left:
            self._database.write("load/place_sources", corpus=self._corpus, left=left, placed=[])
        gone = tuple(sorted({source for sources in lost.values() for source in sources}))
        self.moved = {old: new for old, new in self.moved.items() if new and old not in gone}
        is_empty = any(not files and path in self._before for path, files in self._folders.items())
        names = tuple(shown(Path(source)) for source in gone)
        if gone and (prune(names, is_empty) if callable(prune) else prune and not is_empty):
            self.pruned, copies = names, [*copies, *lost]
        else:
            self.gone = names
        if copies:
            stored.remove_documents(self._database, self._corpus, copies)
        self.note(() if self.pruned else gone)
