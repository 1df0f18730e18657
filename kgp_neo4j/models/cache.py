"""Replies of language models on disk, so that asking the same again costs nothing."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from kgp_neo4j.configuration import LanguageSettings
from kgp_neo4j.language import Around, LanguageModel, Reply

__all__ = ["Cached", "ReplyCache"]

_FILE = "replies.sqlite"
#: Bytes of the file at most; the oldest replies go first. Some hundred thousand answers.
_LARGEST = 256 << 20
_BUSY_SECONDS = 10.0
#: The number stands for the form of what is kept.
_TABLE = (
    "CREATE TABLE IF NOT EXISTS replies_1 "
    "(key TEXT PRIMARY KEY, value TEXT NOT NULL, size INTEGER NOT NULL, kept REAL NOT NULL)"
)
_GET = "SELECT value FROM replies_1 WHERE key = ?"
_PUT = "INSERT OR REPLACE INTO replies_1 VALUES (?, ?, ?, ?)"
_COUNT = "SELECT count(*) FROM replies_1"
_USED = (
    "SELECT (p.page_count - f.freelist_count) * s.page_size "
    "FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s"
)
#: Keeps the newest replies that have together that many bytes.
_DROP = (
    "DELETE FROM replies_1 WHERE key IN (SELECT key FROM "
    "(SELECT key, sum(size) OVER (ORDER BY kept DESC, key) AS total FROM replies_1) "
    "WHERE total > ?)"
)
_log = logging.getLogger("kgp_neo4j")
T = TypeVar("T")


class ReplyCache:
    """Replies by the hash of what was asked, in an SQLite file that processes may share.

    `folder` is made where it is missing, for its owner alone; `largest` is in bytes. What was asked
    is not kept. A damaged file is begun afresh with a warning; without a file that can be written,
    nothing is kept.
    """

    def __init__(self, folder: Path, *, largest: int = _LARGEST) -> None:
        self.path = folder / _FILE
        self._largest = largest
        self._lock = threading.Lock()
        self._warned = False

    def get(self, key: str) -> str | None:
        """Return what is kept under a key, None where nothing is."""
        found = self._run(lambda on: on.execute(_GET, (key,)).fetchone())
        return str(found[0]) if found else None

    def put(self, key: str, value: str) -> None:
        """Keep a value; the oldest ones are dropped where there is no room for it."""

        def write(on: sqlite3.Connection) -> None:
            with on:
                on.execute("BEGIN IMMEDIATE")
                # A row takes its key twice, in the table and in the index.
                size = len(value.encode()) + 2 * len(key)
                on.execute(_PUT, (key, value, size, time.time()))
                if on.execute(_USED).fetchone()[0] > self._largest:
                    on.execute(_DROP, (self._largest // 2,))

        self._run(write, make=True)

    def count(self) -> int:
        """Return how many replies are kept."""
        found = self._run(lambda on: on.execute(_COUNT).fetchone())
        return int(found[0]) if found else 0

    def clear(self) -> int:
        """Delete everything that is kept; return how many replies that were."""
        count = self.count()
        self._delete()
        return count

    def _run(self, what: Callable[[sqlite3.Connection], T], *, make: bool = False) -> T | None:
        """Do something with the file; None where it is missing, damaged or out of reach."""
        with self._lock:
            try:
                if not make and not self.path.exists():
                    return None
                with closing(self._open()) as connection:
                    return what(connection)
            except (sqlite3.OperationalError, OSError) as error:  # locked, full, not to be written
                if not self._warned:
                    _log.warning("Warning: replies are not kept in %s (%s).", self.path, error)
                self._warned = True
            except sqlite3.DatabaseError as error:
                _log.warning(
                    "Warning: the kept replies are damaged (%s) and begun afresh: %s.",
                    error,
                    self.path,
                )
                self._delete()
        return None

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            # No waiting for the disk: a file that a power cut damages is begun afresh.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(_TABLE)
        except BaseException:
            connection.close()
            raise
        return connection

    def _delete(self) -> None:
        for path in (self.path, self.path.with_name(f"{_FILE}-journal")):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                _log.warning("Warning: %s cannot be deleted (%s).", path, error)


class Cached(Around):
    """A language model that keeps its replies: what was asked before costs nothing.

    `identity` says which model it is, besides its name: a server's address, a checkpoint's state.
    Only replies that came to their end are kept, and as all of them are drawn with a fixed seed,
    one stands for the next.
    """

    def __init__(
        self, model: LanguageModel, cache: ReplyCache, settings: LanguageSettings, identity: str
    ) -> None:
        super().__init__(model)
        self._cache = cache
        self._priced = settings.price_prompt is not None or settings.price_reply is not None
        self._said = [
            identity,
            model.name,
            settings.temperature,
            settings.seed,
            settings.max_tokens,
        ]

    def reply(
        self,
        task: str,
        prompt: str,
        *,
        tokens: int = 1024,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """Return the kept reply, which took nothing, or the model's."""
        asked = json.dumps([*self._said, tokens, task, prompt])
        key = hashlib.sha256(asked.encode()).hexdigest()
        text = _text(self._cache.get(key))
        if text is not None:
            if on_text is not None:
                on_text(text)
            return Reply(text, cost=0.0 if self._priced else None, cached=True)
        made = self._model.reply(task, prompt, tokens=tokens, on_text=on_text)
        if made.finish == "stop":
            self._cache.put(key, json.dumps({"text": made.text}, ensure_ascii=False))
        return made


def _text(kept: str | None) -> str | None:
    """Return the text of a kept reply; None for what is none."""
    try:
        text = json.loads(kept)["text"] if kept is not None else None
    except (ValueError, KeyError, TypeError):
        return None
    return text if isinstance(text, str) else None
