"""Delete documents and corpora with everything in them, and corpora that one run needs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from kgp_neo4j.corpus.load.ids import text_hash
from kgp_neo4j.corpus.load.kept_files import forget_files
from kgp_neo4j.corpus.load.listing import require_corpus
from kgp_neo4j.corpus.load.own_indexes import drop_indexes
from kgp_neo4j.environment.disk import locked
from kgp_neo4j.environment.files import absolute, expanded
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.export_files import discard
from kgp_neo4j.types.corpus import Document
from kgp_neo4j.types.errors import CorpusError, InputError, KgpError

#: Ids that an error message lists at most.
_LISTED = 10


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


# --- A corpus for as long as one run needs it ---


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
