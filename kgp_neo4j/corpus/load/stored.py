"""What is stored of corpora: listing, language, indexes, kept files, deletion, export, import."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import msgspec
from filelock import FileLock, Timeout

from kgp_neo4j.corpus.load.ids import checked_corpus, corpus_scope, text_hash
from kgp_neo4j.environment.disk import locked
from kgp_neo4j.environment.files import absolute, expanded
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.export_files import Kind, discard, export, import_file
from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.text.language import DEFAULT_LANGUAGE, OTHER, guess_language, languages
from kgp_neo4j.types.corpus import CorpusSummary, Document, Passage, SourceDocument, Transfer
from kgp_neo4j.types.errors import ConfigurationError, CorpusError, InputError, KgpError
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
        raise CorpusError(f"there is no corpus named {corpus!r}", hint=hint)


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
            raise ConfigurationError(what, hint=hint)
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
    with suppress(InputError, OSError, RuntimeError, ValueError):  # a title, not a path
        path = absolute(expanded(document))
        files = [path.as_posix(), path.resolve().as_posix()]
    rows = database.read("load/find_documents", corpus=corpus, text=document, files=files)
    # An id names one document, even where it is another one's title.
    named = [row for row in rows if row["by"] == rows[0]["by"]]
    if not named:
        what = f"no document has the id, title or source {document!r}"
        hint = "Titles are told apart by case; a file may be named by its path."
        raise CorpusError(what, where=corpus, hint=hint)
    if len(named) > 1 and named[0]["by"] == "title":
        ids = ", ".join(row["id"] for row in named[:_LISTED])
        more = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
        what = f"{len(named)} documents have the title {document!r}"
        raise CorpusError(what, where=corpus, hint=f"Name one of them by its id: {ids}{more}.")
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
        with suppress(CorpusError):
            delete_corpus(database, file.name)
        with suppress(OSError):  # Windows deletes it when it is released
            file.unlink()
    except KgpError as error:
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
        raise InputError("a language that is none")
    if root.get("scope") != scope or root.get("shelf") not in (scope, root["language"]):
        raise InputError("another scope than its name has")
    root.pop("moving", None)


def _place_node(root: Row, labels: list[str], properties: Row) -> list[str]:
    label = labels[0] if labels else ""
    if label not in _LABELS or labels[1:] not in ([], [_CJK] if label == "Passage" else []):
        raise InputError("a label that no corpus has")
    _ = properties[_KEYS.get(label, "id")]
    if properties["corpus"] != root["name"]:
        raise InputError("a node of another corpus")
    # Without it no file is opened that an import names: loaded again, the document has it.
    properties.pop("fileHash", None)
    if label != "Passage":
        return labels
    _ = properties["document"], properties["position"], properties["text"]
    if properties["scope"] != root["scope"]:
        raise InputError("a passage of another scope")
    # The labels of the indexes that search it.
    shelves = {root["shelf"], root["language"]} if root.get("small") else {root["shelf"]}
    if root.get("cjk") and _CJK in labels:
        shelves.add(cjk_shelf(root["scope"]))
    return [*labels, *map(passage_label, sorted(shelves))]


def _check_relationship(_: Row, type_: str, __: Row) -> None:
    if type_ not in _TYPES:
        raise InputError("a relationship that no corpus has")


def _make_indexes(database: Database, root: Row) -> None:
    language_of(database, root["name"], root["language"], ())
    if root["shelf"] == root["scope"]:
        make_indexes(database, root["name"], vectors=not root.get("small"))
        database.read("install/await_indexes")


CORPUS = Kind(
    name="corpus",
    label="Corpus",
    properties={
        "text": "agent answer caption contents corpus date details document edge encoder "
        "fileHash fingerprint footer header heading id key keywordMarks label language linkedBy "
        "madeOf markdown mentionMarks sharedEntityMarks sharedKeywordMarks name norm reason run "
        "scope section settings sha256 shelf source surface table text title total type unit",
        "whole": "cells characters column columnSpan count dimension documentFrequency edges end "
        "headerRows level links markdownRows nodes number order page pages position rank row "
        "rowSpan rows start step tables",
        "number": "coherence commonness inherited judged match score seconds tfidf value weight",
        "truth": "cjk complete covered inKeywordGraph moving named namesTitle owned raw recognised "
        "small structured unfinished",
        "time": "askedAt createdAt loadedAt madeAt",
        "vector": "embedding mdrEmbedding",
        "list of text": "entities keywords passages titles",
        "list of whole": "offsets pageNumbers path",
    },
    # The labels of the indexes that search a passage are given by the import.
    choose_labels=lambda labels: [label for label in (*_LABELS, _CJK) if label in labels],
    check_name=checked_corpus,
    delete=delete_corpus,
    discard=discard_import,
    check_root=_check_root,
    place_node=_place_node,
    check_relationship=_check_relationship,
    make_indexes=_make_indexes,
    error=CorpusError,
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
