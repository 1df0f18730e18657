"""The key of a chat server: from the environment, or from a file that nobody else may read."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from kgp_neo4j.errors import ConfigurationError

__all__ = ["VARIABLE", "read_key"]

VARIABLE = "OPENAI_API_KEY"


def read_key(key_file: Path | None, environ: Mapping[str, str] = os.environ) -> str:
    """Return the key of OPENAI_API_KEY, else of the file that is named; empty for none.

    Raises ConfigurationError for a file that others may read, and for a key that no server takes;
    neither shows it.
    """
    where = VARIABLE
    key = environ.get(VARIABLE, "").strip()
    if not key and key_file is not None:
        where = str(key_file)
        key = _key_of(key_file)
    # Headers with other characters are refused with a message that holds the key.
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(
            f"{where} holds characters that no key has", hint="Copy the key once more."
        )
    return key


def _key_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise OSError(0, "not a regular file")
            # Windows keeps no such bits.
            if os.name == "posix" and found.st_mode & 0o077:
                raise ConfigurationError(
                    "others may read this file, which holds a key",
                    where=str(path),
                    hint=f"Close it: chmod 600 {path}",
                )
            data = file.read(1 << 16)
        return data.decode("ascii").strip()
    except OSError as error:
        raise ConfigurationError(
            f"the key's file cannot be read ({error.strerror})",
            where=str(path),
            hint="Change OPENAI_API_KEY_FILE (or llm.key_file), or make the file.",
        ) from error
    except UnicodeDecodeError:
        raise ConfigurationError(
            f"{path} holds characters that no key has", hint="Copy the key once more."
        ) from None
