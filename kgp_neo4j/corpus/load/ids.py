"""Stable ids, made from what a thing is, so that loading twice finds the same nodes."""

import hashlib

from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.types.errors import ConfigurationError

_LONGEST_CORPUS_NAME = 200


def checked_corpus(name: str) -> str:
    """Return the corpus name if it is valid, else raise ConfigurationError."""
    if not name.strip():
        raise ConfigurationError("the corpus name is empty", hint="Give it a name: --corpus NAME.")
    if len(name) > _LONGEST_CORPUS_NAME:
        what = f"the corpus name has {len(name)} characters"
        raise ConfigurationError(what, hint=f"Use at most {_LONGEST_CORPUS_NAME}.")
    if not is_storable(name):
        raise ConfigurationError("the corpus name is not valid Unicode", hint="Use UTF-8.")
    return name


def corpus_scope(name: str) -> str:
    """Return the one token that represents a corpus in full-text search."""
    return "c" + text_hash(name)[:16]


def id_of(*parts: object) -> str:
    """Return the id of what these parts tell from all else, a passage's text among them."""
    # Each part has its length before it, so that no two lists of parts give the same bytes.
    digest = hashlib.sha256()
    for part in parts:
        encoded = str(part).encode()
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.hexdigest()[:32]


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, as hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()
