"""The files of a load: checked at its beginning, and read one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kgp_neo4j.corpus.load.formats import read
from kgp_neo4j.corpus.load.ids import checked_corpus
from kgp_neo4j.environment.files import InputFiles, find, shown, size_on_disk
from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.text.language import languages
from kgp_neo4j.types.checks import check_choice
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import ConfigurationError

__all__ = ["Read", "Source", "check_options", "find_files"]


@dataclass(slots=True)
class Read:
    """How far files were read: the number of the file, and the documents and errors met in it.

    `files` counts those without an error.
    """

    file: int = 0
    readings: int = 0
    files: int = 0
    errors: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def check_options(corpus: str, passage_size: int | None, language: str | None) -> None:
    """Raise ConfigurationError for a name, a size or a language that no load can have."""
    checked_corpus(corpus)
    if passage_size is not None and passage_size < 1:
        raise ConfigurationError(
            f"a passage cannot have {passage_size} characters", hint="Use a size of at least 1."
        )
    if language is not None:
        check_choice("language", language, languages())


def find_files(
    paths: Iterable[str | Path],
    corpus: str,
    *,
    passage_size: int | None,
    language: str | None,
    keep_going: bool,
) -> InputFiles:
    """Return the files to load; raises ConfigurationError or InputError before any is read."""
    check_options(corpus, passage_size, language)
    found = find(paths)
    if found.errors and not keep_going:
        raise found.errors[0]
    return found


class Source:
    """The documents of all files; what was read of them before is passed over."""

    def __init__(self, paths: list[Path], keep_going: bool, done: Read | None = None) -> None:
        self._paths = paths
        self._keep_going = keep_going
        self.done = done or Read()

    def documents(self, progress: Progress) -> Iterator[SourceDocument]:
        """Yield the documents; raises the first InputError unless the load keeps going."""
        done = self.done
        for path in self._paths[: done.file]:
            progress.update(size_on_disk(path))
        for path in self._paths[done.file :]:
            faultless, before = True, done.readings
            for at, reading in enumerate(read(path, progress), 1):
                faultless = faultless and isinstance(reading, SourceDocument)
                if at <= before:
                    continue
                if isinstance(reading, SourceDocument):
                    done.readings = at
                    done.left_out += [f"{shown(path)}: {what}" for what in reading.left_out]
                    yield reading
                elif self._keep_going:
                    done.readings = at
                    done.errors.append(str(reading))
                else:
                    raise reading
            done.files += faultless
            done.file, done.readings = done.file + 1, 0
