"""Caches the replies of language models on disk."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from diskcache import Cache, JSONDisk, Timeout
from diskcache.core import MODE_RAW

from kgp_neo4j.environment.configuration import LanguageSettings
from kgp_neo4j.types.language import LanguageModel, ModelWrapper, Reply

__all__ = ["CachedModel", "ReplyCache"]

_FILES = ("cache.db", "cache.db-journal")
#: The cache file of version 0.1.0.
_OLD_FILE = "replies.sqlite"
#: Most bytes on disk, some hundred thousand replies; the oldest are dropped first.
_LARGEST = 256 << 20
_BUSY_SECONDS = 10.0
_log = logging.getLogger("kgp_neo4j")
T = TypeVar("T")


class _JsonDisk(JSONDisk):  # type: ignore[misc]
    """Stores values as JSON in the database only.

    A cache from a stranger cannot make it load a pickle or delete a file.
    """

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        return super().fetch(MODE_RAW, None, value, False)

    def remove(self, file_path: str) -> None:
        return None


class ReplyCache:
    """Texts by the hash of their request, in a folder that processes may share.

    The folder is created for its owner alone; `largest` is in bytes. Requests are not stored. A
    damaged cache is deleted with a warning; where the folder is not writable, nothing is cached.
    """

    def __init__(self, folder: Path, *, largest: int = _LARGEST) -> None:
        self.path = folder / _FILES[0]
        self._largest = largest
        self._lock = threading.Lock()
        self._cache: Any = None
        self._warned = False

    def get(self, key: str) -> str | None:
        """Return the text of a key, None where there is none."""
        text = self._run(lambda cache: cache.get(key), None)
        return text if isinstance(text, str) else None

    def put(self, key: str, text: str) -> None:
        """Store a text; the oldest ones are dropped where there is no room."""
        self._run(lambda cache: cache.set(key, text), False)

    def count(self) -> int:
        """Return the number of cached replies."""
        return self._run(len, 0) if self.path.exists() else 0

    def clear(self) -> int:
        """Delete all cached replies and return their number."""
        self._delete(_OLD_FILE)
        return self._run(lambda cache: int(cache.clear()), 0) if self.path.exists() else 0

    def _run(self, use: Callable[[Any], T], missing: T) -> T:
        """Call `use` with the cache; return `missing` where it is damaged or not accessible."""
        try:
            with self._lock:
                if self._cache is None:
                    self._cache = self._open()
            return use(self._cache)
        except (sqlite3.OperationalError, OSError, Timeout) as error:  # locked, full, not writable
            if not self._warned:
                _log.warning("Warning: replies are not kept in %s (%s).", self.path, error)
            self._warned = True
        except Exception as error:  # a damaged cache can raise anything
            _log.warning(
                "Warning: the kept replies are damaged (%s) and begun afresh: %s.", error, self.path
            )
            self._cache = None
            self._delete(*_FILES)
        return missing

    def _open(self) -> Any:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite gives the files beside it the same mode.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        return Cache(
            str(self.path.parent),
            timeout=_BUSY_SECONDS,
            disk=_JsonDisk,
            disk_min_file_size=sys.maxsize,
            size_limit=self._largest,
            eviction_policy="least-recently-stored",
            # No memory map: if another program truncates the file, as may happen on a network
            # disk, access to the map would crash this process.
            sqlite_mmap_size=0,
            sqlite_journal_mode="delete",
            # No fsync: a cache damaged by a power cut is deleted and filled again.
            sqlite_synchronous=0,
        )

    def _delete(self, *names: str) -> None:
        for path in (self.path.with_name(name) for name in names):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                _log.warning("Warning: %s cannot be deleted (%s).", path, error)


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
        self._priced = settings.price_prompt is not None or settings.price_reply is not None
        self._identity = [
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
        """Return the cached reply, which has no tokens and no cost, or the model's."""
        request = json.dumps([*self._identity, tokens, task, prompt])
        key = hashlib.sha256(request.encode()).hexdigest()
        text = self._cache.get(key)
        if text is not None:
            if on_text is not None:
                on_text(text)
            return Reply(text, cost=0.0 if self._priced else None, cached=True)
        reply = self._model.reply(task, prompt, tokens=tokens, on_text=on_text)
        if reply.finish == "stop":
            self._cache.put(key, reply.text)
        return reply
