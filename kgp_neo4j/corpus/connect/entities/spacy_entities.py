"""Finds named entities with a user's spaCy model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.types.errors import ConfigurationError

__all__ = ["load_spacy", "spacy_entities"]

#: Labels of spaCy's English models for values rather than entities.
_VALUES = frozenset(("CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"))


def load_spacy(model: str) -> Any:
    """Return a spaCy pipeline by the name of its package or its folder."""
    with needs("spacy", "a spaCy model"):
        import spacy
    try:
        return spacy.load(model)
    except OSError as error:
        raise ConfigurationError(
            f"there is no spaCy model {model!r}",
            hint="Name a folder, or install one: python -m spacy download en_core_web_sm",
        ) from error
    except ValueError as error:
        raise ConfigurationError(
            f"the spaCy model {model!r} cannot be loaded ({str(error).splitlines()[0]})",
            hint="Install the packages it was made with.",
        ) from error


def spacy_entities(
    pipeline: Any, texts: Sequence[str], labels: Sequence[str] = ()
) -> Iterator[list[tuple[int, int, str]]]:
    """Yield the entities of each text: start and end in characters, and the kind.

    Only those of the kinds `labels` are yielded, all but values where there are none.
    """
    for document in pipeline.pipe(texts, batch_size=64):
        yield [
            (entity.start_char, entity.end_char, entity.label_)
            for entity in document.ents
            if (entity.label_ in labels if labels else entity.label_ not in _VALUES)
        ]
