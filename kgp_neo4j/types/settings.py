"""The settings of every stage: defaults, ranges and choices, for Python and the commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kgp_neo4j.types.checks import check_choice, check_ranges
from kgp_neo4j.types.errors import ConfigurationError

__all__ = [
    "ALGORITHMS",
    "EDGES",
    "LINKERS",
    "SERVICES",
    "AgentSettings",
    "EntitySettings",
    "ExplorationSettings",
    "KeywordSettings",
    "LinkSettings",
    "MdrSettings",
    "MiningSettings",
    "SimilaritySettings",
    "TraversalSettings",
    "default_of",
    "traversal_settings",
]


#: The relationship types that a traversal may follow.
EDGES = ("SHARES_KEYWORD", "SHARES_ENTITY", "SIMILAR_ST", "SIMILAR_MDR", "NEXT")
#: How a text-writing, searching or embedding agent walks: in a beam, or as KGP's Algorithm 1 says.
ALGORITHMS = ("beam", "paper")


@dataclass(frozen=True, slots=True)
class TraversalSettings:
    """Limits and weights of a traversal.

    `budget` is the context budget in distinct passages, `seeds` the number of paths it starts with,
    `branching` the neighbours that one path visits, `hops` the number of steps of the beam; `edges`
    restricts the edge types (all when empty). `outward` and `inward` are the shares of its match
    that a passage passes on over an edge that names a title, in its direction and against it;
    `named` is added to a seed's score where the question names its title. The `algorithm` is one of
    ALGORITHMS; `paper` walks one type of edge to the end of the budget, and uses none of `hops`,
    `outward`, `inward` and `named` (`traversal_settings` has its other defaults).
    """

    budget: int = 30
    seeds: int = 8
    branching: int = 5
    hops: int = 2
    edges: tuple[str, ...] = ()
    outward: float = 0.4
    inward: float = 0.2
    named: float = 0.3
    algorithm: str = "beam"

    def __post_init__(self) -> None:
        check_choice("algorithm", self.algorithm, ALGORITHMS)
        check_ranges(self, budget=(1, 1000), seeds=(1, 1000), branching=(1, 100), hops=(0, 10))
        unknown = sorted(set(self.edges) - set(EDGES))
        if unknown:
            raise ConfigurationError(
                f"there is no edge type {', '.join(unknown)}",
                hint=f"Choose among {', '.join(EDGES)}.",
            )
        if self.algorithm == "paper" and len(self.edges) != 1:
            raise ConfigurationError(
                "the paper's algorithm walks one graph",
                hint=f"Choose one edge type among {', '.join(EDGES)}.",
            )


def traversal_settings(algorithm: str = "beam", **given: Any) -> TraversalSettings:
    """Return the settings of a traversal by an algorithm; what is None or left out is its default.

    Those of `paper` are KGP's: 10 seeds, a branching factor of 3, and the graph of shared entities.
    """
    defaults = {"seeds": 10, "branching": 3, "edges": ("SHARES_ENTITY",)}
    changed = {name: value for name, value in given.items() if value not in (None, ())}
    if algorithm == "paper":
        changed = defaults | changed
    return TraversalSettings(algorithm=algorithm, **changed)


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The parts of an agent, beyond its name.

    `model` is a checkpoint's folder or hub name (`mdr`, `t5`, `llama`), or the name of a server's
    model (`chat`); `adapter` is a folder of LoRA weights; `url` is the chat server's address.
    `temperature` 0 writes the likeliest evidence; above it, `seed` makes runs repeatable (also
    those of `random`).
    """

    model: str | None = None
    adapter: str | None = None
    url: str | None = None
    temperature: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_ranges(self, temperature=(0, 2), seed=(0, 2**31 - 1))


@dataclass(frozen=True, slots=True)
class KeywordSettings:
    """Density of the keyword graph.

    `keywords` n-grams (of up to `longest` words) are kept for a passage, the paper's density
    setting; titles that occur in it are added. Two passages are joined by keywords that occur in at
    most `max_frequency` passages, each to its `neighbours` closest.
    """

    keywords: int = 30
    longest: int = 4
    max_frequency: int = 50
    neighbours: int = 10

    def check(self) -> None:
        """Raise ConfigurationError for a number out of range."""
        check_ranges(
            self, keywords=(1, 1000), longest=(1, 8), max_frequency=(2, 100_000),
            neighbours=(0, 1000),
        )  # fmt: skip


#: Linkers that call a web service.
SERVICES = ("wat", "tagme")


#: The corpus's own titles, these with spaCy's entities, or a web service.
LINKERS = ("titles", "spacy", *SERVICES)


@dataclass(frozen=True, slots=True)
class EntitySettings:
    """How mentions are found, and the density of the entity graph.

    `threshold` prunes mentions of titles by their score; `aliases` is a file of further names;
    `phrases` adds capitalised phrases that up to `phrase_frequency` passages share. Two passages
    are joined by entities that at most `max_frequency` passages mention, each to its `neighbours`
    closest. `spacy_model` is a name or a folder, `spacy_labels` the kinds of its entities that are
    kept (all but numbers and times when empty). `url` replaces a service's public address; `prior`
    is the commonness that its entities must exceed (KGP keeps those over 0.8).
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
        check_ranges(
            self, threshold=(0, 1), prior=(0, 1), phrase_frequency=(2, 1000),
            max_frequency=(2, 100_000), neighbours=(0, 1000),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SimilaritySettings:
    """The encoder, the number of nearest passages that each is joined to (k of the paper's KNN),
    and whether a corpus embedded by another encoder is embedded again.
    """

    encoder: str | None = None
    neighbours: int = 10
    replace: bool = False


@dataclass(frozen=True, slots=True)
class MdrSettings:
    """The folder of the MDR encoder (None: the one that the corpus has, else the one that comes
    along), the number of nearest passages that each is joined to, and whether a corpus with another
    one is embedded again.
    """

    model: str | None = None
    neighbours: int = 10
    replace: bool = False


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """When a mention is linked by its embedding: the least cosine, and the least lead over the
    next.

    `entities` is the most that a question may have. A mention that a model extracted needs 0.1
    less.
    """

    threshold: float = 0.75
    margin: float = 0.03
    entities: int = 12

    def __post_init__(self) -> None:
        check_ranges(self, threshold=(0, 1), margin=(0, 1), entities=(1, 12))


@dataclass(frozen=True, slots=True)
class ExplorationSettings:
    """Limits of exploration.

    `hops` is the greatest length of a segment between two entities, `paths` the most paths;
    `expand` is the number of neighbours that are explored further; at most `fan` relationships of
    one entity are read. The search for paths ends after `seconds`.
    """

    hops: int = 5
    paths: int = 5
    expand: int = 20
    fan: int = 5_000
    seconds: float = 1.0

    def __post_init__(self) -> None:
        check_ranges(
            self,
            hops=(1, 10),
            paths=(1, 100),
            expand=(0, 200),
            fan=(10, 100_000),
            seconds=(0.01, 600),
        )


#: How neighbours are found relevant to a question: by rank, or by a language model as in the paper.
RELEVANCE = ("ranked", "llm")
#: How evidence is aggregated: by rules, or described by a language model as in the paper.
AGGREGATION = ("rules", "llm")


@dataclass(frozen=True, slots=True)
class MiningSettings:
    """How evidence is mined.

    `size` is the evidence's size in triples. `paths` and `neighbours` switch the two explorations
    on or off (the paper's ablations). `relevance` and `aggregation`
    are one of `RELEVANCE` and `AGGREGATION`.
    """

    size: int = 40
    paths: bool = True
    neighbours: bool = True
    path_share: float = 0.2
    relevance: str = "ranked"
    aggregation: str = "rules"
    linking: LinkSettings = field(default_factory=LinkSettings)
    exploration: ExplorationSettings = field(default_factory=ExplorationSettings)

    def __post_init__(self) -> None:
        check_choice("relevance", self.relevance, RELEVANCE)
        check_choice("aggregation", self.aggregation, AGGREGATION)
        check_ranges(self, size=(1, 500), path_share=(0, 1))


def default_of(settings: type[Any], name: str) -> Any:
    """Return the default of a setting, for the command's option of the same name."""
    return settings.__dataclass_fields__[name].default
