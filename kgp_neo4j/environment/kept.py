"""Keeps what took work to make, by a hash of what it was made from, in an SQLite file."""

import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Generic, TypeVar

_USED = """
SELECT (page_count - freelist_count) * page_size
FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
_log = logging.getLogger("kgp_neo4j")
V = TypeVar("V", str, bytes)
T = TypeVar("T")


class KeptValues(Generic[V]):
    """Values of one type by their keys, in a file that processes may share.

    The folder is created for its owner alone; the oldest values go at `largest` bytes. A damaged
    file is deleted with a warning; where it cannot be used, nothing is kept.
    """

    def __init__(self, path: Path, kind: type[V], largest: int) -> None:
        self.path = path
        self._kind: type[V] = kind
        self._largest = largest
        self._table = path.stem
        self._warned = False

    def find(self, keys: Iterable[str]) -> dict[str, V]:
        """Return the values of those keys that have one."""
        select = f"SELECT text FROM {self._table} WHERE key = ?"

        def read(kept: sqlite3.Connection) -> dict[str, V]:
            rows = ((key, kept.execute(select, (key,)).fetchone()) for key in keys)
            return {key: row[0] for key, row in rows if row and isinstance(row[0], self._kind)}

        return self._run(read, {})

    def keep(self, values: Mapping[str, V]) -> None:
        """Store values; the oldest ones are dropped where there is no room."""
        insert = f"INSERT OR IGNORE INTO {self._table} VALUES (?, ?)"
        # Large files lose more at a time.
        oldest = f"SELECT rowid FROM {self._table} ORDER BY rowid LIMIT {max(10, len(values))}"

        def store(kept: sqlite3.Connection) -> None:
            kept.executemany(insert, values.items())
            while kept.execute(_USED).fetchone()[0] > self._largest:
                kept.execute(f"DELETE FROM {self._table} WHERE rowid IN ({oldest})")

        self._run(store, None)

    def clear(self) -> int:
        """Delete all values and return their number."""
        if not self.path.exists():
            return 0
        return self._run(lambda kept: kept.execute(f"DELETE FROM {self._table}").rowcount, 0)

    def _run(self, use: Callable[[sqlite3.Connection], T], missing: T) -> T:
        """Call `use` in a transaction; return `missing` where the file cannot be used."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite gives the files beside it the same mode.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(sqlite3.connect(self.path, timeout=10.0)) as kept, kept:
                columns = "(key TEXT PRIMARY KEY, text BLOB NOT NULL)"
                kept.execute(f"CREATE TABLE IF NOT EXISTS {self._table} {columns}")
                return use(kept)
        except (sqlite3.OperationalError, OSError) as error:  # locked, full, not writable
            if not self._warned:
                _log.warning("Warning: %s are not kept in %s (%s).", self._table, self.path, error)
            self._warned = True
        except sqlite3.DatabaseError as error:
            told = (self._table, error, self.path)
            _log.warning("Warning: the kept %s are damaged (%s) and begun afresh: %s.", *told)
            self.path.unlink(missing_ok=True)
        return missing
