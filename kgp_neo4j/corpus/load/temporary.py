"""A corpus for as long as one run needs it, which no killed run leaves behind for ever."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from kgp_neo4j.corpus.load.delete import delete_corpus
from kgp_neo4j.corpus.load.ids import text_hash
from kgp_neo4j.environment.disk import locked
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import CorpusError, KgpError


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
