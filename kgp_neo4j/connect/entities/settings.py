"""What the entity graph is made with."""

from __future__ import annotations

from dataclasses import dataclass

from kgp_neo4j.errors import ConfigurationError

__all__ = ["LINKERS", "SERVICES", "EntitySettings"]

#: Linkers that ask a web service.
SERVICES = ("wat", "tagme")
#: The corpus's own titles, these and spaCy's entities, or a web service.
LINKERS = ("titles", "spacy", *SERVICES)


@dataclass(frozen=True, slots=True)
class EntitySettings:
    """How mentions are found, and how dense the entity graph becomes.

    `threshold` prunes mentions of titles by their score; `aliases` is a file of further names;
    `phrases` adds capitalised phrases that up to `phrase_frequency` passages share. Two passages
    are joined by entities that at most `max_frequency` passages mention, each to its `neighbours`
    closest. `spacy_model` is a name or a folder, `spacy_labels` the kinds of its entities that are
    kept (all but numbers and times when empty). `url` is where a service listens instead of its
    public address, `prior` the commonness its entities must exceed (KGP keeps those over 0.8).
    """

    linker: str = "titles"
    threshold: float = 0.2
    aliases: str | None = None
    phrases: bool = True
    phrase_frequency: int = 100
    max_frequency: int = 50
    neighbours: int = 10
    spacy_model: str | None = None
    spacy_labels: tuple[str, ...] = ()
    url: str | None = None
    language: str = "en"
    prior: float = 0.8

    def check(self) -> None:
        """Raise ConfigurationError where the settings do not fit together."""
        if self.linker not in LINKERS:
            raise ConfigurationError(
                f"there is no linker named {self.linker}",
                hint=f"Choose among {', '.join(LINKERS)}.",
            )
        if (self.linker == "spacy") != bool(self.spacy_model):
            raise ConfigurationError(
                "the linker spacy needs a model"
                if self.linker == "spacy"
                else f"a spaCy model is given, but the linker is {self.linker}",
                hint="Use --linker spacy --spacy-model en_core_web_sm (or a folder).",
            )
        if self.url and self.linker not in SERVICES:
            raise ConfigurationError(
                f"the linker {self.linker} asks no service", hint="Leave --linker-url out."
            )
        limits = {
            "threshold": (0, 1),
            "prior": (0, 1),
            "phrase_frequency": (2, 1000),
            "max_frequency": (2, 100_000),
            "neighbours": (0, 1000),
        }
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise ConfigurationError(
                    f"{name} is {value}", hint=f"Choose a number from {low} to {high}."
                )
