"""Writes documents as the CSV files of `neo4j-admin database import`.

A folder has one file for each kind of node and type of relationship, `state.json` with how far the
writing has come, and, for a server of one's own, `import.sh` with the command. Files only grow: a
run that was cut off goes on behind what the state knows, and what stands after it is cut away.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from kgp_neo4j.corpus.load import grid
from kgp_neo4j.corpus.load.ids import corpus_scope
from kgp_neo4j.corpus.load.shelf import LARGE
from kgp_neo4j.corpus.load.source import Read
from kgp_neo4j.corpus.load.write import document_fingerprint, document_row
from kgp_neo4j.graphdb.server.lock import locked
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError

__all__ = ["Account", "ImportFiles"]

_STATE, _COMMAND, _LOCK = "state.json", "import.sh", "lock"
#: Seconds between two states: what a killed run has to do again.
_EVERY = 10.0
#: Bytes of the importer's buffer, in which the largest value must fit, at least.
_BUFFER = 4 << 20

#: The properties of each kind of node, with their types where they are no text.
_NODES = {
    "Document": "id corpus title source key sha256 fingerprint characters:long loadedAt:datetime "
    "pages:long tables:long cells:long structured:boolean",
    "Passage": "id corpus scope document title text position:long start:long end:long page:long "
    "section :LABEL",
    "Page": "id corpus document number:long label title header footer start:long end:long "
    "recognised:boolean",
    "Section": "id corpus document order:long title heading level:long start:long end:long",
    "Table": "id corpus document order:long label name title caption markdown markdownRows:long "
    "rows:long headerRows:long pageNumbers:long[] start:long end:long",
    "Column": "id corpus table order:long header title norm type",
    "Row": "id corpus table order:long number:long title page:long",
    "Cell": "id corpus table row:long column:long text norm title type value:double date unit "
    "rowSpan:long columnSpan:long covered:boolean",
    "Corpus": "name scope language shelf createdAt:datetime complete:boolean",
    "KgpInstallation": "name layout:long schema procedures version",
}
_RELATIONSHIPS = (
    *("HAS_PASSAGE", "NEXT", "HAS_PAGE", "HAS_SECTION"),
    *("HAS_TABLE", "HAS_ROW", "HAS_COLUMN", "HAS_CELL"),
)


@dataclass(slots=True)
class Account:
    """How far the files have come: what was read, what was written, and the account of it."""

    #: What must be the same in a run that goes on: corpus, options, and the files with their times.
    settings: dict[str, Any]
    source: Read = field(default_factory=Read)
    language: str = ""
    nodes: int = 0
    documents: int = 0
    passages: int = 0
    characters_in: int = 0
    characters_out: int = 0
    pages: int = 0
    tables: int = 0
    cells: int = 0
    recognised: int = 0
    #: Whether a value has a line end, and the length of the longest line in bytes.
    lines: bool = False
    longest: int = 0
    #: Bytes of each file.
    sizes: dict[str, int] = field(default_factory=dict)


class ImportFiles:
    """The files of one corpus in a folder, begun or gone on with; use it with `with`.

    `settings` is what must be the same in a run that goes on. Raises InputError where the folder
    has other files, or where it cannot be written to.
    """

    def __init__(
        self, folder: Path, corpus: str, passage_size: int | None, settings: Mapping[str, Any]
    ) -> None:
        self._folder = folder
        self._corpus, self._scope, self._size = corpus, corpus_scope(corpus), passage_size
        self._now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._held = ExitStack()
        self._open: dict[str, IO[bytes]] = {}
        # As they are once they have been written and read.
        self.account = Account(
            json.loads(json.dumps({"corpus": corpus, "passage_size": passage_size, **settings}))
        )

    def __enter__(self) -> Self:
        with _writing(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._held.enter_context(
                locked(self._folder / _LOCK, "Another process writes these files", lambda _: None)
            )
            self._find()
            self._saved = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._held:
            for file in self._open.values():
                file.close()

    def met(self) -> Iterator[bytes]:
        """Yield the ids of the documents that are written, as bytes."""
        path = self._folder / "Document.csv"
        if self.account.documents:
            with path.open(encoding="utf-8", newline="") as file:
                rows = csv.reader(file)
                next(rows)
                for row in rows:
                    yield bytes.fromhex(row[1])

    def add(self, documents: Mapping[str, SourceDocument]) -> None:
        """Write documents by their ids: all that was read since the last call."""
        held: dict[str, list[str]] = {}
        for id_, document in documents.items():
            self._add(held, id_, document)
        with _writing(self._folder):
            self._write(held)
            if time.monotonic() - self._saved > _EVERY:
                self._save()

    def finish(self, installation: Mapping[str, Any]) -> list[str]:
        """Write the corpus and what is installed; return the importer's arguments.

        They name files of the folder, and the database `neo4j`.
        """
        done = self.account
        shelf = self._scope if done.passages >= LARGE else done.language
        values = {
            "Corpus": (self._corpus, self._scope, done.language, shelf, self._now, False),
            "KgpInstallation": tuple(installation.values()),
        }
        with _writing(self._folder):
            self._save()
            for at, (kind, row) in enumerate(values.items()):
                lines = ",".join(_header(kind)) + "\n" + _line([done.nodes + at, *row])
                self._path(kind).write_text(lines, encoding="utf-8")
        arguments = [
            *("database", "import", "full", "neo4j", "--id-type=integer", "--bad-tolerance=0"),
            f"--read-buffer-size={max(_BUFFER, 2 * done.longest)}",
            *(["--multiline-fields=true"] if done.lines else []),
        ]
        for kind in (*_NODES, *_RELATIONSHIPS):
            if self._path(kind).exists():
                option = "nodes" if kind in _NODES else "relationships"
                labels = f"{kind}:{_label(shelf)}" if kind == "Passage" else kind
                arguments.append(f"--{option}={labels}={kind}.csv")
        return arguments

    def command(self, installation: Mapping[str, Any]) -> str:
        """Write what `finish` does; return the command that imports the files from their folder."""
        command = shlex.join(["neo4j-admin", *self.finish(installation)])
        with _writing(self._folder):
            (self._folder / _COMMAND).write_text(f"{command}\n", encoding="utf-8")
        return command

    def _find(self) -> None:
        """Go on with what an earlier run with the same settings has left, else begin."""
        state = self._folder / _STATE
        if not state.exists() and any(path.name != _LOCK for path in self._folder.iterdir()):
            raise InputError(
                "the folder has other files",
                where=str(self._folder),
                hint="Name an empty one, or one that does not exist yet.",
            )
        found = _read_state(state)
        if found is not None and found.settings == self.account.settings:
            self.account = found
        else:
            self._save()
        self._cut(self.account.sizes)

    def _cut(self, sizes: Mapping[str, int]) -> None:
        for kind in (*_NODES, *_RELATIONSHIPS):
            if kind in sizes:
                os.truncate(self._path(kind), sizes[kind])
            else:
                self._path(kind).unlink(missing_ok=True)

    def _path(self, kind: str) -> Path:
        return self._folder / f"{kind}.csv"

    def _save(self) -> None:
        """Write the state, once the files that it tells of are on the disk."""
        for kind, file in self._open.items():
            file.flush()
            os.fsync(file.fileno())
            self.account.sizes[kind] = file.tell()
        path = self._folder / _STATE
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(self.account)), encoding="utf-8")
        fresh.replace(path)
        self._saved = time.monotonic()

    def _write(self, held: Mapping[str, Sequence[str]]) -> None:
        for kind, lines in held.items():
            if kind not in self._open:
                path = self._path(kind)
                new = not path.exists()
                self._open[kind] = path.open("ab")
                if new:
                    self._open[kind].write((",".join(_header(kind)) + "\n").encode())
            data = "".join(lines).encode()
            self._open[kind].write(data)
            if kind in _NODES:
                self.account.longest = max(self.account.longest, *map(len, lines))
                self.account.lines |= data.count(b"\n") > len(lines) or b"\r" in data

    def _add(self, held: dict[str, list[str]], id_: str, document: SourceDocument) -> None:
        """Add the lines of a document with all that belongs to it."""
        row = document_row(id_, document, document_fingerprint(document, self._size), self._size)
        done = self.account
        corpus = self._corpus

        def node(kind: str, *values: object) -> int:
            done.nodes += 1
            held.setdefault(kind, []).append(_line([done.nodes - 1, *values]))
            return done.nodes - 1

        def join(type_: str, start: int, end: int) -> None:
            held.setdefault(type_, []).append(f"{start},{end}\n")

        own = node(
            "Document",
            *(id_, corpus, row["title"], row["source"], row["key"], row["sha256"]),
            *(row["fingerprint"], row["characters"], self._now),
            *(row["pageCount"], row["tableCount"], row["cellCount"]),
            True if row["cellCount"] else None,
        )
        pages: dict[str, int] = {}
        for page in row["pages"]:
            pages[page["id"]] = node(
                "Page",
                *(page["id"], corpus, id_, page["number"], page["label"], page["title"]),
                *(page["header"], page["footer"], page["start"], page["end"], page["recognised"]),
            )
            join("HAS_PAGE", own, pages[page["id"]])
        passages: dict[str, int] = {}
        before = None
        for passage in row["passages"]:
            at = passages[passage["id"]] = node(
                "Passage",
                *(passage["id"], corpus, self._scope, id_, passage["title"], passage["text"]),
                *(passage["position"], passage["start"], passage["end"], passage["page"]),
                *(passage["section"], "CjkPassage" if passage["cjk"] else None),
            )
            join("HAS_PASSAGE", own, at)
            if passage["pageId"]:
                join("HAS_PASSAGE", pages[passage["pageId"]], at)
            if before is not None:
                join("NEXT", before, at)
            before = at
            done.characters_out += len(passage["text"])
        for section in row["sections"]:
            at = node(
                "Section",
                *(section["id"], corpus, id_, section["order"], section["title"]),
                *(section["heading"], section["level"], section["start"], section["end"]),
            )
            join("HAS_SECTION", own, at)
            for passage in section["passages"]:
                join("HAS_PASSAGE", at, passages[passage])
        for order, (told, table) in enumerate(zip(row["tables"], document.tables, strict=True), 1):
            at = node(
                "Table",
                *(told["id"], corpus, id_, told["order"], told["number"], told["name"]),
                *(told["title"], told["caption"], told["markdown"], told["markdownRows"]),
                *(told["rows"], told["headerRows"], told["pages"], told["start"], told["end"]),
            )
            join("HAS_TABLE", own, at)
            for page in told["pageIds"]:
                join("HAS_TABLE", pages[page], at)
            columns = []
            for column in told["columns"]:
                rest = (column["header"], column["title"], column["norm"], column["type"])
                columns.append(
                    node("Column", column["id"], corpus, told["id"], column["order"], *rest)
                )
                join("HAS_COLUMN", at, columns[-1])
            for line in grid.table_rows(id_, order, table):
                place = node(
                    "Row",
                    *(line["id"], corpus, told["id"]),
                    *(line["order"], line["number"], line["title"], line["page"]),
                )
                join("HAS_ROW", at, place)
                for cell in line["cells"]:
                    made = node(
                        "Cell",
                        *(cell["id"], corpus, told["id"], line["number"], cell["column"]),
                        *(cell["text"], cell["norm"], cell["text"], cell["type"], cell["value"]),
                        *(cell["date"], cell["unit"], cell["rowSpan"], cell["columnSpan"]),
                        cell["covered"],
                    )
                    join("HAS_CELL", place, made)
                    join("HAS_CELL", columns[cell["column"] - 1], made)
                    done.cells += 1
        done.documents += 1
        done.passages += len(passages)
        done.characters_in += len(document.text)
        done.pages += len(pages)
        done.tables += len(document.tables)
        done.recognised += sum(page.recognised for page in document.pages)


def _read_state(path: Path) -> Account | None:
    """Return the state of a folder, None where it is not whole or the files are not."""
    with contextlib.suppress(ValueError, TypeError, FileNotFoundError):
        found = Account(**json.loads(path.read_text(encoding="utf-8")))
        found.source = Read(**found.source)  # type: ignore[arg-type]
        if all(
            path.with_name(f"{kind}.csv").stat().st_size >= size
            for kind, size in found.sizes.items()
        ):
            return found
    return None


def _header(kind: str) -> list[str]:
    return [":ID", *_NODES[kind].split()] if kind in _NODES else [":START_ID", ":END_ID"]


def _label(shelf: str) -> str:
    """Return the label of the passages on a shelf, as `load/documents` makes it."""
    return f"{shelf[:1].upper()}{shelf[1:]}Passage"


def _line(values: Iterable[object]) -> str:
    return ",".join(map(_field, values)) + "\n"


def _field(value: object) -> str:
    """Return a value as the importer reads it: no quotes are null, two are an empty text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return '"' + ";".join(map(str, value)) + '"'
    return str(value)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn an error of writing into one that says what to do."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"the files of the import cannot be written ({error.strerror})",
            where=str(error.filename or folder),
            hint="Choose a folder on a disk with enough space; the same command goes on from "
            "there.",
        ) from error
