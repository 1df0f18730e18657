"""Write documents with their passages, many in a transaction, each completely or not at all.

Files of the same contents are one document, with many sources. It has the id of the source that it
was made for; each further source is a node with the id that a document of its own would have had.
Documents with a key are always their own.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kgp_neo4j.corpus.load import split
from kgp_neo4j.corpus.load.contents import cell_count
from kgp_neo4j.corpus.load.ids import corpus_scope, id_of
from kgp_neo4j.corpus.load.rows import document_row, table_rows
from kgp_neo4j.corpus.load.stored import make_own_indexes
from kgp_neo4j.environment.files import is_gone, stem
from kgp_neo4j.graphdb.database import Database, Row, in_batches
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import DatabaseError

#: Characters that a load keeps in memory, and those that each document counts for besides its own.
_CHARACTERS, _DOCUMENT = 4_000_000, 4_000
#: Passages and cells in a transaction, which ends with the document or row that reaches them.
_PASSAGES, _CELLS = 1_000, 10_000
#: Part of every document's fingerprint: raise it when the stored form of documents changes.
_FORM = 3


@dataclass(slots=True)
class _Placed:
    """The documents of a batch, what is stored of them, and how their sources change.

    `documents`, `stored` and `contents` are by the document's id, `left` and `placed` the rows of
    `load/place_sources`. `deserted` documents have no source any longer. `copies` counts sources
    whose document is another one's.
    """

    documents: dict[str, SourceDocument] = field(default_factory=dict)
    stored: dict[str, Row] = field(default_factory=dict)
    contents: dict[str, str | None] = field(default_factory=dict)
    left: list[Row] = field(default_factory=list)
    placed: list[Row] = field(default_factory=list)
    deserted: set[str] = field(default_factory=set)
    copies: int = 0


def _contents(document: SourceDocument) -> str | None:
    """Return what files share that hold the same but for their names, None where there is a key."""
    if document.key:
        return None
    title = document.title
    named = title == stem(Path(document.source)) or title in document.text
    parts = (document.pages, document.tables, document.sections)
    return id_of("" if named else title, document.text, repr(parts))


def _place(
    database: Database, corpus: str, batch: Mapping[str, SourceDocument], moved: dict[str, str]
) -> _Placed:
    """Find the document of each source in a batch, both by the source's id; nothing is written.

    A source stays with a document that has its contents, or joins one. Otherwise it changes its
    document if no other source stays with that, and gets a new one if there is any. Where one of
    the batch has what a source in `moved`, which is gone, had, it is set there.
    """
    contents = {id_: _contents(document) for id_, document in batch.items()}
    asked = [{"id": id_, "contents": content} for id_, content in contents.items()]
    found: dict[str, dict[str, Row]] = defaultdict(dict)
    known: dict[str, Row] = {}
    for row in database.read("load/stored", corpus=corpus, rows=asked):
        known[row["id"]] = row
        # The document of the source's id may be that of others by now.
        if row["by"] != "id" or row["sources"][0] == batch[row["asked"]].source:
            found[row["asked"]].setdefault(row["by"], row)
    homes, targets = dict[str, str](), dict[str, str]()
    staying = {id_: set(row["sources"]) for id_, row in known.items()}
    for id_, document in batch.items():
        same = found[id_].get("contents")
        if home := found[id_].get("source") or found[id_].get("id"):
            homes[id_] = home["id"]
            staying[home["id"]].discard(document.source)
            if home["contents"] == contents[id_]:
                same = home
        if same:
            targets[id_] = same["id"]
            staying[same["id"]].add(document.source)
    made: dict[str, str] = {}
    for id_ in batch:
        if id_ not in targets:
            content = contents[id_] or id_
            if content not in made:
                made[content] = id_ if id_ not in known else uuid.uuid4().hex
                if id_ in homes and not staying[homes[id_]]:
                    made[content] = homes[id_]
                staying.setdefault(made[content], set()).add(batch[id_].source)
            targets[id_] = made[content]
    placed = _Placed(contents={targets[id_]: contents[id_] for id_ in batch})
    for id_, document in batch.items():
        target, own = targets[id_], None
        if target in known:
            stored = placed.stored[target] = known[target]
            is_same = stored["contents"] == contents[id_]
            if is_same and document.source not in stored["sources"]:
                # A folder may have moved with all its files.
                moved.update({n: "" for n in stored["sources"] if n not in moved and is_gone(n)})
            own = next((name for name in stored["sources"] if name not in moved), None)
            if is_same:
                for name in moved.keys() & stored["sources"]:
                    moved[name] = moved[name] or document.source
                    placed.left.append({"document": target, "source": name})
                if own not in (None, document.source):
                    document = replace(document, title=stored["title"], source=own)
        if target not in placed.documents or batch[id_].source == own:
            placed.documents[target] = document
    for id_, document in batch.items():
        target, home_id = targets[id_], homes.get(id_, targets[id_])
        row = {"document": target, "source": document.source}
        is_copy = placed.documents[target].source != document.source
        placed.copies += is_copy
        if found[id_].get("source", {}).get("id") != target and (is_copy or target != id_):
            placed.placed.append(row | {"id": id_})
        if home_id != target:
            placed.left.append(row | {"document": home_id})
            if not staying[home_id]:
                placed.deserted.add(home_id)
    return placed


def batches(corpus: str, found: Iterable[SourceDocument]) -> Iterator[dict[str, SourceDocument]]:
    """Gather documents into batches by their ids; a repeated paragraph is left out."""
    # Ids are kept as bytes: a data set has a million paragraphs.
    seen: set[bytes] = set()

    def new() -> Iterator[tuple[str, SourceDocument]]:
        for document in found:
            id_ = id_of(corpus, document.source, document.key)
            if bytes.fromhex(id_) not in seen:
                seen.add(bytes.fromhex(id_))
                yield id_, document

    return map(dict, in_batches(new(), _CHARACTERS, lambda each: _DOCUMENT + len(each[1].text)))


def write(
    database: Database,
    corpus: str,
    batch: dict[str, SourceDocument],
    passage_size: int | None,
    language: str,
    counted: set[str] | None = None,
    moved: dict[str, str] | None = None,
) -> Counter[str]:
    """Store what is new or changed in a batch; count what is stored of all of it.

    The counts have the names of `LoadReport`, without the documents `counted` in batches before.
    `moved` has files that are gone, and gets those that hold the same now; `passage_size` is in
    characters. Raises DatabaseError where the database does not have every character afterwards.
    """
    placed = _place(database, corpus, batch, moved if moved is not None else {})
    stored, documents = placed.stored, placed.documents
    prints = {id_: _fingerprint(each, passage_size) for id_, each in documents.items()}
    results = [
        row for id_, row in stored.items() if row["whole"] and row["fingerprint"] == prints[id_]
    ]
    unchanged = {row["id"] for row in results}
    changed = {id_: document for id_, document in documents.items() if id_ not in unchanged}
    if replaced := [id_ for id_ in stored if id_ in changed]:
        database.write_in_batches("load/remove_structure", documents=replaced)
    rows = (
        document_row(id_, document, prints[id_], _size(document, passage_size))
        | {"contents": placed.contents[id_]}
        for id_, document in changed.items()
    )
    told = {"corpus": corpus, "scope": corpus_scope(corpus), "language": language}
    for group in in_batches(rows, _PASSAGES, lambda row: len(row["passages"])):
        results += database.write("load/documents", **told, rows=group)
    make_own_indexes(database, corpus)
    _write_tables(database, corpus, {id_: each for id_, each in changed.items() if each.tables})
    if placed.left or placed.placed:
        database.write("load/place_sources", corpus=corpus, left=placed.left, placed=placed.placed)
    if placed.deserted:
        database.write_in_batches("load/delete_documents", corpus=corpus, ids=[*placed.deserted])
    if hashes := {id_: each.file_hash for id_, each in documents.items() if each.file_hash}:
        database.write("load/file_hashes", hashes=hashes)
    for row in results:
        document = documents[row["id"]]
        _check_stored(row["characters"], len(document.text), "characters", document)
    counted = counted if counted is not None else set()
    results = [row for row in results if row["id"] not in counted]
    new = [documents[row["id"]] for row in results]
    counted.update(id_ for id_, content in placed.contents.items() if content)
    return Counter(
        documents=len(results),
        passages=sum(row["passages"] for row in results),
        characters_in=sum(len(each.text) for each in new),
        characters_out=sum(row["characters"] for row in results),
        new=sum(row["id"] not in stored for row in results),
        unchanged=sum(row["id"] in unchanged for row in results),
        replaced=sum(row["id"] in stored and row["id"] in changed for row in results),
        copies=placed.copies,
        pages=sum(len(each.pages) for each in new),
        tables=sum(len(each.tables) for each in new),
        cells=sum(cell_count(each.tables) for each in new),
        recognised=sum(page.recognised for each in new for page in each.pages),
    )


def _write_tables(database: Database, corpus: str, documents: dict[str, SourceDocument]) -> None:
    """Write the rows and cells of documents' tables, and check that every cell is there."""
    if not documents:
        return
    rows = (
        row
        for id_, document in documents.items()
        for order, table in enumerate(document.tables, 1)
        for row in table_rows(id_, order, table)
    )
    for group in in_batches(rows, _CELLS, lambda row: len(row["cells"])):
        database.write("load/table_rows", corpus=corpus, rows=group)
    for row in database.write("load/finish_tables", ids=list(documents)):
        document = documents[row["id"]]
        _check_stored(row["cells"], cell_count(document.tables), "cells", document)


def _check_stored(stored: int, expected: int, of_what: str, document: SourceDocument) -> None:
    if stored != expected:
        what = f"{stored} of {expected} {of_what} are stored"
        hint = "Is another load of this corpus running? Load it again."
        raise DatabaseError(what, where=document.source, hint=hint)


def _fingerprint(document: SourceDocument, passage_size: int | None) -> str:
    """Return a value that changes when a document must be stored anew."""
    size = _size(document, passage_size)
    parts = (_FORM, split.VERSION, size, document.pages, document.tables, document.sections)
    return id_of(document.title, document.text, repr(parts))


def _size(document: SourceDocument, passage_size: int | None) -> int | None:
    """Return the size to split at, None for one passage."""
    is_one = document.whole and len(document.text) <= split.WHOLE_LIMIT
    return passage_size or (None if is_one else split.DEFAULT_SIZE)
