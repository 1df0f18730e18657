"""The files of a load: checked at its beginning, and read one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kgp_neo4j.corpus.load.formats import read
from kgp_neo4j.corpus.load.ids import checked_corpus
from kgp_neo4j.environment.files import InputFiles, find, shown
from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.text.language import languages
from kgp_neo4j.types.checks import check_choice
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import ConfigurationError

__all__ = ["Source", "check_options", "find_files"]


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
    """The documents of all files, with what was met while they were read.

    `files` counts those without an error.
    """

    def __init__(self, paths: list[Path], keep_going: bool) -> None:
        self._paths = paths
        self._keep_going = keep_going
        self.files = 0
        self.errors: list[str] = []
        self.left_out: list[str] = []

    def documents(self, progress: Progress) -> Iterator[SourceDocument]:
        """Yield the documents; raises the first InputError unless the load keeps going."""
        for path in self._paths:
            faultless = True
            for reading in read(path, progress):
                if isinstance(reading, SourceDocument):
                    self.left_out += [f"{shown(path)}: {what}" for what in reading.left_out]
                    yield reading
                elif self._keep_going:
                    faultless = False
                    self.errors.append(str(reading))
                else:
                    raise reading
            self.files += faultless
