"""Caches the replies of language models on disk."""

import hashlib
import json
import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar, Unpack

from kgp_neo4j.environment.configuration import LanguageSettings
from kgp_neo4j.types.language import LanguageModel, ModelWrapper, Reply, ReplyOptions

#: Most bytes on disk, some hundred thousand replies; the oldest are dropped first.
_LARGEST = 256 << 20
_BUSY_SECONDS = 10.0
_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, text TEXT NOT NULL)"
_USED = """
SELECT (page_count - freelist_count) * page_size
FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
_DROP_OLDEST = """
DELETE FROM replies WHERE rowid IN (SELECT rowid FROM replies ORDER BY rowid LIMIT 10)
"""
_log = logging.getLogger("kgp_neo4j")
T = TypeVar("T")


class ReplyCache:
    """Texts by the hash of their request, in a folder that processes may share.

    The folder is created for its owner alone; `largest` is in bytes. Requests are not stored.
    A damaged cache is deleted with a warning; where the folder is not writable, nothing is cached.
    """

    def __init__(self, folder: Path, *, largest: int = _LARGEST) -> None:
        self.path = folder / "replies.db"
        self._largest = largest
        self._warned = False

    def get(self, key: str) -> str | None:
        """Return the text of a key, None where there is none."""
        select = "SELECT text FROM replies WHERE key = ?"
        row = self._run(lambda cache: cache.execute(select, (key,)).fetchone(), None)
        return row[0] if row and isinstance(row[0], str) else None

    def put(self, key: str, text: str) -> None:
        """Store a text; the oldest ones are dropped where there is no room."""

        def store(cache: sqlite3.Connection) -> None:
            cache.execute("INSERT OR IGNORE INTO replies VALUES (?, ?)", (key, text))
            while cache.execute(_USED).fetchone()[0] > self._largest:
                cache.execute(_DROP_OLDEST)

        self._run(store, None)

    def clear(self) -> int:
        """Delete all cached replies and return their number."""
        if not self.path.exists():
            return 0
        return self._run(lambda cache: cache.execute("DELETE FROM replies").rowcount, 0)

    def _run(self, use: Callable[[sqlite3.Connection], T], missing: T) -> T:
        """Call `use` in a transaction; return `missing` where the cache cannot be used."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite gives the files beside it the same mode.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS)) as cache, cache:
                cache.execute(_TABLE)
                return use(cache)
        except (sqlite3.OperationalError, OSError) as error:  # locked, full, not writable
            if not self._warned:
                _log.warning("Warning: replies are not kept in %s (%s).", self.path, error)
            self._warned = True
        except sqlite3.DatabaseError as error:
            _log.warning(
                "Warning: the kept replies are damaged (%s) and begun afresh: %s.", error, self.path
            )
            self.path.unlink(missing_ok=True)
        return missing


class CachedModel(ModelWrapper):
    """A language model with a cache: a repeated request costs nothing.

    `identity` distinguishes models of the same name: a server's address, a checkpoint's state.
    Only complete replies are cached. They are sampled with a fixed seed, so that a new reply would
    be the same.
    """

    def __init__(
        self, model: LanguageModel, cache: ReplyCache, settings: LanguageSettings, identity: str
    ) -> None:
        super().__init__(model)
        self._cache = cache
        settled = (settings.temperature, settings.seed, settings.max_tokens)
        self._identity = (identity, model.name, *settled)

    def reply(self, task: str, prompt: str, **options: Unpack[ReplyOptions]) -> Reply:
        """Return the cached reply, which has no tokens, or the model's."""
        request = json.dumps([*self._identity, options.get("tokens", 1024), task, prompt])
        key = hashlib.sha256(request.encode()).hexdigest()
        text = self._cache.get(key)
        if text is not None:
            if on_text := options.get("on_text"):
                on_text(text)
            return Reply(text, cached=True)
        reply = self._model.reply(task, prompt, **options)
        if reply.finish == "stop":
            self._cache.put(key, reply.text)
        return reply
