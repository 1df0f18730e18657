"""The settings of every stage: defaults, ranges and choices, for Python and the commands."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from kgp_neo4j.types.errors import ConfigurationError

#: The relationship types that a traversal may follow.
EDGES = ("SHARES_KEYWORD", "SHARES_ENTITY", "SIMILAR_ST", "SIMILAR_MDR", "NEXT")
#: How a text-writing, searching or embedding agent walks: in a beam, or as KGP's Algorithm 1 says.
ALGORITHMS = ("beam", "paper")


def setting(
    default: Any,
    help: str = "",
    *,
    bounds: tuple[float, float] | None = None,
    choices: Iterable[str] = (),
    option: str = "",
    metavar: str | None = None,
    variable: str | None = None,
    secret: bool = False,
) -> Any:
    """Return a field of a settings dataclass.

    `bounds` are the least and the greatest value, `choices` the words that are allowed: both the
    settings' own check (`Checked`) and the command's option read them from here. A field
    with a `help` is an option of commands, called `option` where that is not its name, and read
    from the environment's `variable` where it is not given. A `secret` is left out of the `repr`.
    """
    about = {"help": help, "bounds": bounds, "choices": tuple(choices), "option": option}
    about |= {"metavar": metavar, "variable": variable}
    return field(default=default, repr=not secret, metadata=about)


class Checked:
    """The base of a dataclass of settings that are checked when they are made."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Raise ConfigurationError for a field outside its bounds or its choices."""
        for each in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            value = getattr(self, each.name)
            if value is not None and (bounds := each.metadata.get("bounds")):
                low, high = bounds
                if not low <= value <= high:
                    hint = f"Choose a number from {low} to {high}."
                    raise ConfigurationError(f"{each.name} is {value}", hint=hint)
            if choices := each.metadata.get("choices"):
                for word in value if isinstance(value, tuple) else (value,):
                    check_choice(each.name.removesuffix("s").replace("_", " "), word, choices)


def check_choice(what: str, given: str, known: Iterable[str]) -> None:
    """Raise ConfigurationError unless `given` is one of the known words."""
    known = tuple(known)
    if given not in known:
        hint = f"Choose one of {', '.join(known)}."
        raise ConfigurationError(f"there is no {what} {given!r}", hint=hint)


def wrong_fields(errors: Iterable[Mapping[str, Any]]) -> str:
    """Return what is wrong with each field, by the `errors` of pydantic; values are left out."""
    told = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in errors)
    return "; ".join(each.removeprefix(": ") for each in told)


@dataclass(frozen=True, slots=True)
class TraversalSettings(Checked):
    """Limits and weights of a traversal.

    `edges` are all types when empty. `outward` and `inward` are the shares of its match that a
    passage passes on over an edge that names a title, in its direction and against it; `named` is
    added to a seed's score where the question names its title. `paper` walks one type of edge, and
    uses none of `hops`, `outward`, `inward` and `named` (see `traversal_settings`).
    """

    budget: int = setting(30, "Distinct passages at most.", bounds=(1, 1000))
    seeds: int = setting(8, "Paths that it starts with (paper: 10).", bounds=(1, 1000))
    branching: int = setting(5, "Neighbours that a path visits (paper: 3).", bounds=(1, 100))
    hops: int = setting(2, "Steps from a seed.", bounds=(0, 10))
    edges: tuple[str, ...] = setting(
        (), "Edge types to follow; can be repeated (default: all; paper: SHARES_ENTITY).",
        choices=EDGES,
    )  # fmt: skip
    outward: float = 0.4
    inward: float = 0.2
    named: float = 0.3
    algorithm: str = setting(
        "beam", "How an agent walks: a beam, or Algorithm 1 of KGP's paper.", choices=ALGORITHMS
    )

    def __post_init__(self) -> None:
        Checked.__post_init__(self)  # the decorator makes another class, unknown to super()
        if self.algorithm == "paper" and len(self.edges) != 1:
            hint = f"Choose one edge type among {', '.join(EDGES)}."
            raise ConfigurationError("the paper's algorithm walks one graph", hint=hint)


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
class AgentSettings(Checked):
    """The parts of an agent, beyond its name.

    `model` is a checkpoint's folder or hub name (`llama`), the folder of trees (`learned`), or a
    server's model (`chat`). Above `temperature` 0, and with `random`, `seed` makes runs repeatable.
    """

    model: str | None = setting(
        None, "Its model: a folder, a hub name (llama), or as the chat server calls it.",
        metavar="NAME",
    )  # fmt: skip
    url: str | None = setting(
        None, "The chat server, with the OpenAI protocol (or OPENAI_BASE_URL).",
        option="chat-url", metavar="URL", variable="OPENAI_BASE_URL",
    )  # fmt: skip
    temperature: float = setting(0.0, "Above 0, llama and chat draw.", bounds=(0, 2))
    seed: int = setting(0, "The same seed, the same draw.", bounds=(0, 2**31 - 1))


@dataclass(frozen=True, slots=True)
class KeywordSettings(Checked):
    """Density of the keyword graph: the paper's `keywords`, to which titles are added."""

    keywords: int = setting(30, "Keywords kept for a passage.", bounds=(1, 1000))
    longest: int = setting(4, "Words in the longest keyword.", bounds=(1, 8))
    max_frequency: int = setting(
        50, "A keyword or entity in more passages joins none.", bounds=(2, 100_000)
    )
    neighbours: int = setting(
        10, "Passages that each is joined to, in every graph.", bounds=(0, 1000)
    )


@dataclass(frozen=True, slots=True)
class EntitySettings(Checked):
    """How mentions are found, and the density of the entity graph.

    `threshold` prunes mentions of titles by their score; `phrases` adds capitalised phrases that up
    to `phrase_frequency` passages share.
    """

    threshold: float = setting(0.2, bounds=(0, 1))
    aliases: str | None = setting(
        None, "Further names of documents: lines of alias, tab, title.", metavar="FILE"
    )
    phrases: bool = True
    phrase_frequency: int = setting(100, bounds=(2, 1000))
    max_frequency: int = setting(50, "As for keywords.", bounds=(2, 100_000))
    neighbours: int = setting(10, "As for keywords.", bounds=(0, 1000))


@dataclass(frozen=True, slots=True)
class SimilaritySettings:
    """The encoder, the neighbours of each passage (the paper's k), and if it embeds all again."""

    encoder: str | None = setting(
        None, "all-MiniLM-L6-v2, its -quick form (the default from 10,000 passages on), or a "
        "sentence-transformers name or folder.", metavar="NAME",
    )  # fmt: skip
    neighbours: int = setting(10, "As for keywords.")
    replace: bool = setting(
        False, "Embed every passage again, by another encoder.", option="replace-embeddings"
    )


@dataclass(frozen=True, slots=True)
class MdrSettings:
    """The neighbours of each passage by the MDR encoder, and whether all are embedded again."""

    neighbours: int = setting(10, "As for keywords.")
    replace: bool = setting(False, "As for --encoder.", option="replace-embeddings")


@dataclass(frozen=True, slots=True)
class LinkSettings(Checked):
    """When a mention is linked by its embedding: the least cosine, and lead over the next.

    `entities` is the most that a question may have. A mention extracted by a model needs 0.1 less.
    """

    threshold: float = setting(0.75, bounds=(0, 1))
    margin: float = setting(0.03, bounds=(0, 1))
    entities: int = setting(12, bounds=(1, 12))


@dataclass(frozen=True, slots=True)
class ExplorationSettings(Checked):
    """Limits of exploration.

    `hops` is the greatest length of a segment between two entities; `expand` neighbours are
    explored further, at most `fan` relationships of each read. `seconds` end the search for paths.
    """

    hops: int = setting(5, "Steps of a path between two entities at most.", bounds=(1, 10))
    paths: int = setting(5, bounds=(1, 100))
    expand: int = setting(20, bounds=(0, 200))
    fan: int = setting(5_000, bounds=(10, 100_000))
    seconds: float = setting(1.0, bounds=(0.01, 600))


@dataclass(frozen=True, slots=True)
class MiningSettings(Checked):
    """How evidence is mined; `paths` and `neighbours` switch the two explorations on or off."""

    size: int = setting(40, "Triples of evidence at most.", bounds=(1, 500))
    aggregation: str = setting(
        "rules",
        "Who writes the evidence down: rules, as routes, or the language model, as in the paper.",
        choices=("rules", "llm"),
        option="aggregate",
    )
    paths: bool = True
    neighbours: bool = True
    path_share: float = setting(0.2, bounds=(0, 1))
    linking: LinkSettings = field(default_factory=LinkSettings)
    exploration: ExplorationSettings = field(default_factory=ExplorationSettings)


@dataclass(frozen=True, slots=True)
class ServeSettings(Checked):
    """The limits of a service; `seconds` includes waiting, `upload` is in megabytes."""

    threads: int | None = setting(
        None, "Questions that are worked on at once (default: one a core).", bounds=(1, 1000)
    )
    queue: int = setting(
        16, "Questions that wait for that at most; more are refused with 429.", bounds=(0, 10_000)
    )
    seconds: float = setting(
        30.0, "What a question may take, with its waiting.", bounds=(0.1, 86_400),
        option="time-limit", metavar="SECONDS",
    )  # fmt: skip
    connections: int = setting(
        512, "Connections at once, half of them from one address; more are refused with 503.",
        bounds=(2, 100_000), option="max-connections",
    )  # fmt: skip
    upload: int = setting(
        64, "The size of an uploaded file at most.", bounds=(1, 100_000),
        option="max-upload", metavar="MB",
    )  # fmt: skip
    forget_uploads: bool = setting(
        False, "Keep no uploaded PDF file: its pages are shown as text.", option="forget-uploads"
    )
    log_questions: bool = setting(False, "Write questions into the log.", option="log-questions")
    forget_questions: bool = setting(
        False, "Keep no questions: the page has no history.", option="forget-questions"
    )
