"""What is stored of corpora: listing, language, indexes, kept files, deletion, export, import."""

import shutil
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import msgspec
from filelock import FileLock, Timeout

from kgp_neo4j.corpus.load import split
from kgp_neo4j.corpus.load.contents import cell_count
from kgp_neo4j.corpus.load.ids import checked_corpus, corpus_scope, id_of, text_hash
from kgp_neo4j.corpus.load.rows import document_row, table_rows
from kgp_neo4j.environment.disk import locked
from kgp_neo4j.environment.files import absolute, expanded, is_gone, stem
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.database import Database, Row, in_batches
from kgp_neo4j.graphdb.export_files import Kind, discard, export, import_file
from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.text.words import DEFAULT_LANGUAGE, OTHER, guess_language, languages
from kgp_neo4j.types import errors
from kgp_neo4j.types.corpus import CorpusSummary, Document, Passage, SourceDocument, Transfer
from kgp_neo4j.types.tables import TableSummary

#: Passages from which a corpus has an index of its vectors, too. Those of a smaller one are
#: compared one by one, which takes 20 ms for so many; it keeps its language's label beside its own.
LARGE = 500
#: Ids that an error message lists at most.
_LISTED = 10


def corpora(database: Database) -> list[CorpusSummary]:
    """Return all corpora by name, with their counts and the passages not connected yet."""
    return [CorpusSummary(**row) for row in database.read("inspect/corpora")]


def list_documents(database: Database, corpus: str) -> list[Document]:
    """Return the documents of a corpus by title; raises CorpusError where it does not exist."""
    require_corpus(database, corpus)
    return msgspec.convert(database.read("inspect/documents", corpus=corpus), list[Document])


def list_passages(
    database: Database, corpus: str, document: str | None = None, limit: int = 1000
) -> list[Passage]:
    """Return at most `limit` passages of a corpus, or of one of its documents, in order."""
    require_corpus(database, corpus)
    within = {"corpus": corpus, "document": document, "limit": limit}
    return msgspec.convert(database.read("inspect/corpus_passages", **within), list[Passage])


def list_tables(database: Database, corpus: str, document: str | None = None) -> list[TableSummary]:
    """Return the tables of a corpus, or of one of its documents, in order."""
    require_corpus(database, corpus)
    rows = database.read("inspect/corpus_tables", corpus=corpus, document=document)
    return msgspec.convert(rows, list[TableSummary])


def require_corpus(database: Database, corpus: str) -> None:
    """Raise CorpusError, with the names of all corpora, where there is none of that name."""
    names = [row["name"] for row in database.read("inspect/names")]
    if corpus not in names:
        hint = f"Corpora: {', '.join(names) or 'none yet'}. `kgp-neo4j load` makes one."
        raise errors.CorpusError(f"there is no corpus named {corpus!r}", hint=hint)


def make_own_indexes(database: Database, corpus: str) -> None:
    """Give the corpus the indexes that it should have; what was cut short before is finished."""
    state = next(iter(database.read("load/own_indexes_state", corpus=corpus, large=LARGE)), None)
    if state is None:
        return
    chosen = {"corpus": corpus, "own": True, "small": not state["large"]}
    grown = state["small"] and state["large"]
    if state["own"] and not (state["moving"] or grown or state["cjk"]):
        return
    if not state["own"] or grown or state["cjk"]:
        database.write_in_batches("load/label_passages", corpus=corpus)
        make_indexes(database, corpus, vectors=state["large"])
        database.read("install/await_indexes")
        database.write("load/choose_indexes", **chosen, moving=True)
    # Again, for what others loaded before the choice.
    database.write_in_batches("load/label_passages", corpus=corpus)
    database.write("load/choose_indexes", **chosen)


def make_indexes(database: Database, corpus: str, *, vectors: bool = True) -> None:
    """Make the corpus's own indexes of text and `vectors`, if any; they are online a bit later."""
    for state in database.read("load/index_state", corpus=corpus):
        scope = state["scope"]
        make_text_index(database, scope, state["language"])
        if state["cjk"]:
            make_text_index(database, cjk_shelf(scope), "cjk")
        if vectors and state["indexed"]:
            index, name = statement("load/vector_index"), f"kgp_vectors_{scope}"
            database.define(index, name=name, label=passage_label(scope))


def make_text_index(database: Database, shelf: str, language: str) -> None:
    """Make the full-text index of a shelf's passages, by their language's analyzer, if any."""
    database.define(
        statement("load/text_index"),
        name=f"kgp_passage_{shelf}",
        label=passage_label(shelf),
        analyzer="standard-no-stop-words" if language == OTHER else language,
    )


def language_of(
    database: Database, corpus: str, asked: str | None, documents: Iterable[SourceDocument]
) -> str:
    """Return the corpus's language, and make its full-text index where there is none yet.

    Of a new corpus it is `asked`, else guessed. Raises ConfigurationError where it has another one.
    """
    if stored := database.read("inspect/state", corpus=corpus):
        known: str = stored[0]["language"]
        if asked not in (None, known):
            what = f"the corpus {corpus!r} is in {known}, not {asked}"
            hint = "Load into another corpus, or delete this one first."
            raise errors.ConfigurationError(what, hint=hint)
        return known
    chosen = asked or guess_language(document.text for document in documents)
    if chosen != DEFAULT_LANGUAGE:
        make_text_index(database, chosen, chosen)
        database.read("install/await_indexes")
    return chosen


def drop_indexes(database: Database, corpus: str) -> None:
    """Drop the indexes of the corpus's own, also those of an import that was cut off."""
    for state in database.read("load/index_state", corpus=corpus):
        scope = state["scope"]
        for index in (f"passage_{scope}", f"passage_{cjk_shelf(scope)}", f"vectors_{scope}"):
            database.define(statement("load/drop_index"), name=f"kgp_{index}")


def cjk_shelf(scope: str) -> str:
    """Return the shelf of a corpus's passages in Chinese, Japanese or Korean."""
    return f"{scope}Cjk"


def passage_label(shelf: str) -> str:
    """Return the label of the passages that an index is of: of a corpus's own, or a language's."""
    return f"{shelf[:1].upper()}{shelf[1:]}Passage"


def _kept(database: Database, corpus: str) -> tuple[Path, set[str]]:
    """Return the folder of a corpus's kept files, of this database alone, and its files' hashes."""
    (row,) = database.read("load/kept_files", corpus=corpus)
    name = text_hash(f"{row['database']} {corpus}")[:32]
    return Folders.from_environment().home / "kept" / name, set(row["hashes"])


def keep_file(database: Database, corpus: str, path: Path) -> None:
    """Move an uploaded file to the kept ones, if a document of the corpus was read from it."""
    folder, hashes = _kept(database, corpus)
    if (own := sha256(path.read_bytes()).hexdigest()) in hashes:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        shutil.move(path, folder / own)


def forget_files(database: Database, corpus: str) -> None:
    """Delete the kept files that no document of a corpus has any longer."""
    folder, hashes = _kept(database, corpus)
    if folder.is_dir():
        for path in folder.iterdir():
            if path.name not in hashes:
                path.unlink(missing_ok=True)
        if not hashes:
            folder.rmdir()


def file_content(database: Database, corpus: str, own: str, sources: Sequence[str]) -> bytes | None:
    """Return the file of a hash, kept or at one of a document's sources; None where it is gone."""
    folder, _ = _kept(database, corpus)
    for path in (folder / own, *map(Path, sources)):
        with suppress(OSError):
            if path.is_file() and sha256(content := path.read_bytes()).hexdigest() == own:
                return content
    return None


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion removed; of `shared` documents one source, since they have others."""

    corpus: str
    documents: int
    passages: int
    shared: int = 0


def delete_corpus(database: Database, corpus: str) -> Deleted:
    """Delete a corpus (again, if interrupted); raises CorpusError where it does not exist."""
    if discard_import(database, corpus) and not database.read("inspect/state", corpus=corpus):
        return Deleted(corpus, 0, 0)
    require_corpus(database, corpus)
    database.write("load/choose_indexes", corpus=corpus, own=False, moving=True)
    drop_indexes(database, corpus)
    done = _delete_content(database, corpus)
    forget_files(database, corpus)
    return Deleted(corpus, done["documents"], done["passages"])


def discard_import(database: Database, corpus: str) -> bool:
    """Delete what an import that was cut off has left of a corpus; return whether it had."""

    def undo() -> None:
        drop_indexes(database, corpus)
        _delete_content(database, corpus)

    return discard(database, "Corpus", corpus, undo)


def _delete_content(database: Database, corpus: str) -> Row:
    database.write("load/changed", corpus=corpus)
    database.write_in_batches("load/delete_keywords", corpus=corpus)
    done = database.write_in_batches("load/delete_corpus_documents", corpus=corpus)
    database.write_in_batches("load/delete_rest", corpus=corpus)
    return done


def delete_document(database: Database, corpus: str, document: str) -> Deleted:
    """Delete the document of that id or title, or all documents of that source.

    A source is a file as loaded (a relative path works) or a data set's name; a document that has
    others stays under these. Raises CorpusError where nothing, or several of a title, is found.
    """
    found = _find(database, corpus, document)
    shared = [row for row in found if row["by"] == "source" and len(row["sources"]) > 1]
    left = [{"document": row["id"], "source": row["source"]} for row in shared]
    if left:
        database.write("load/place_sources", corpus=corpus, left=left, placed=[])
    ids = [row["id"] for row in found if row not in shared]
    done = remove_documents(database, corpus, ids)
    return Deleted(corpus, done["documents"], done["passages"], len(shared))


def remove_documents(database: Database, corpus: str, ids: Sequence[str]) -> Row:
    """Delete the documents of these ids, and files kept for them alone; return their counts."""
    database.write_in_batches("load/remove_structure", documents=ids)
    done = database.write_in_batches("load/delete_documents", corpus=corpus, ids=ids)
    forget_files(database, corpus)
    return done


def find_documents(database: Database, corpus: str, document: str) -> list[Document]:
    """Return the documents that `delete_document` would delete; raises CorpusError as it does."""
    return [
        Document(id_, title, source or sources[0], sources=tuple(sources))
        for id_, title, sources, _, source in map(dict.values, _find(database, corpus, document))
    ]


def _find(database: Database, corpus: str, document: str) -> list[Row]:
    require_corpus(database, corpus)
    files: list[str] = []
    with suppress(errors.InputError, OSError, RuntimeError, ValueError):  # a title, not a path
        path = absolute(expanded(document))
        files = [path.as_posix(), path.resolve().as_posix()]
    rows = database.read("load/find_documents", corpus=corpus, text=document, files=files)
    # An id names one document, even where it is another one's title.
    named = [row for row in rows if row["by"] == rows[0]["by"]]
    if not named:
        what = f"no document has the id, title or source {document!r}"
        hint = "Titles are told apart by case; a file may be named by its path."
        raise errors.CorpusError(what, where=corpus, hint=hint)
    if len(named) > 1 and named[0]["by"] == "title":
        ids = ", ".join(row["id"] for row in named[:_LISTED])
        more = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
        what = f"{len(named)} documents have the title {document!r}"
        raise errors.CorpusError(
            what, where=corpus, hint=f"Name one of them by its id: {ids}{more}."
        )
    return named


@contextmanager
def temporary_corpus(database: Database, *, echo: Callable[[str], object]) -> Iterator[str]:
    """Yield the name of a corpus that is removed with the block, also after an error or Ctrl-C.

    The home has a file of its name, which this process locks as long as it lives: corpora of killed
    runs are removed first. One that cannot be removed is told by `echo`, and left to a later call.
    """
    server = database.connection
    where = "embedded" if server.embedded else text_hash(f"{server.uri} {server.database}")[:16]
    folder = Folders.from_environment().home / "temporary" / where
    # While another run removes what is left, a new file would seem to be of a killed one.
    with locked(folder / ".lock", "Another run removes corpora that were left", echo):
        for file in folder.glob("temporary *"):
            left = FileLock(file, mode=0o600)
            with suppress(Timeout):  # its run lives
                left.acquire(timeout=0)
                _remove(database, left, echo)
        mine = FileLock(folder / f"temporary {uuid4().hex}", mode=0o600)
        mine.acquire()
    try:
        yield Path(mine.lock_file).name
    finally:
        _remove(database, mine, echo)


def _remove(database: Database, lock: FileLock, echo: Callable[[str], object]) -> None:
    """Delete the corpus that a lock's file names, where there is one, then the file."""
    file = Path(lock.lock_file)
    try:
        with suppress(errors.CorpusError):
            delete_corpus(database, file.name)
        with suppress(OSError):  # Windows deletes it when it is released
            file.unlink()
    except errors.KgpError as error:
        echo(f"The corpus {file.name!r} is left for the next such run to remove ({error})")
    finally:
        lock.release()


# --- Export and import ---

_CJK = "CjkPassage"
_LABELS = (
    *("Document", "Table", "Page", "Section", "Passage", "Column", "Row", "Cell"),
    *("DocumentSource", "Keyword", "NamedEntity", "Question", "Graph"),
)
#: What orders and finds the nodes of a label, where that is no id.
_KEYS = {"Keyword": "text", "NamedEntity": "name", "Graph": "type"}
_TYPES = tuple(
    "HAS_PASSAGE HAS_PAGE HAS_SECTION HAS_TABLE HAS_ROW HAS_COLUMN HAS_CELL HAS_SOURCE NEXT "
    "HAS_KEYWORD SHARES_KEYWORD MENTIONS SHARES_ENTITY SIMILAR_ST SIMILAR_MDR VISITED "
    "LED_TO_ANSWER".split()
)


def _check_root(root: Row) -> None:
    scope = corpus_scope(root["name"])
    if root.get("language") not in languages():
        raise errors.InputError("a language that is none")
    if root.get("scope") != scope or root.get("shelf") not in (scope, root["language"]):
        raise errors.InputError("another scope than its name has")
    root.pop("moving", None)


def _place_node(root: Row, labels: list[str], properties: Row) -> list[str]:
    label = labels[0] if labels else ""
    if label not in _LABELS or labels[1:] not in ([], [_CJK] if label == "Passage" else []):
        raise errors.InputError("a label that no corpus has")
    _ = properties[_KEYS.get(label, "id")]
    if properties["corpus"] != root["name"]:
        raise errors.InputError("a node of another corpus")
    # Without it no file is opened that an import names: loaded again, the document has it.
    properties.pop("fileHash", None)
    if label != "Passage":
        return labels
    _ = properties["document"], properties["position"], properties["text"]
    if properties["scope"] != root["scope"]:
        raise errors.InputError("a passage of another scope")
    # The labels of the indexes that search it.
    shelves = {root["shelf"], root["language"]} if root.get("small") else {root["shelf"]}
    if root.get("cjk") and _CJK in labels:
        shelves.add(cjk_shelf(root["scope"]))
    return [*labels, *map(passage_label, sorted(shelves))]


def _check_relationship(_: Row, type_: str, __: Row) -> None:
    if type_ not in _TYPES:
        raise errors.InputError("a relationship that no corpus has")


def _make_indexes(database: Database, root: Row) -> None:
    language_of(database, root["name"], root["language"], ())
    if root["shelf"] == root["scope"]:
        make_indexes(database, root["name"], vectors=not root.get("small"))
        database.read("install/await_indexes")


CORPUS = Kind(
    name="corpus",
    label="Corpus",
    # The labels of the indexes that search a passage are given by the import.
    choose_labels=lambda labels: [label for label in (*_LABELS, _CJK) if label in labels],
    check_name=checked_corpus,
    delete=delete_corpus,
    discard=discard_import,
    check_root=_check_root,
    place_node=_place_node,
    check_relationship=_check_relationship,
    make_indexes=_make_indexes,
    error=errors.CorpusError,
    relationship_types=_TYPES,
)


def export_corpus(
    database: Database, corpus: str, path: str | Path, *, overwrite: bool = False
) -> Transfer:
    """Write a corpus into one file, which is there whole or not at all; the corpus stays.

    Raises CorpusError where there is none, InputError where the file is and `overwrite` is false.
    """
    require_corpus(database, corpus)
    return export(database, CORPUS, corpus, Path(path), overwrite=overwrite)


#: Imports a corpus from a file of `export_corpus`.
import_corpus = partial(import_file, kind=CORPUS)


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
        raise errors.DatabaseError(what, where=document.source, hint=hint)


def _fingerprint(document: SourceDocument, passage_size: int | None) -> str:
    """Return a value that changes when a document must be stored anew."""
    size = _size(document, passage_size)
    parts = (_FORM, split.VERSION, size, document.pages, document.tables, document.sections)
    return id_of(document.title, document.text, repr(parts))


def _size(document: SourceDocument, passage_size: int | None) -> int | None:
    """Return the size to split at, None for one passage."""
    is_one = document.whole and len(document.text) <= split.WHOLE_LIMIT
    return passage_size or (None if is_one else split.DEFAULT_SIZE)
