"""Options of commands: of settings dataclasses, those that several share, and who answers."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

from kgp_neo4j.cli._output import say
from kgp_neo4j.plugins import plugged
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.corpus import Form, LanguageModel, Rerank
from kgp_neo4j.types.settings import AgentSettings, TraversalSettings, traversal_settings

F = TypeVar("F", bound=Callable[..., Any])


def settings_options(
    *, without: Sequence[str] = (), build: Callable[..., Any] | None = None, **declared: type[Any]
) -> Callable[[F], F]:
    """Return a decorator that adds the options of settings dataclasses to a command.

    A field that was declared by `kgp_neo4j.types.checks.setting` with a help is an option: its
    type, range, choices, default and help are the field's. A keyword names the command's parameter
    that gets the finished settings; a name that several of them share is one option. Only what was
    given or configured is handed to the dataclass (or to `build` in its place), so that defaults
    stand in the settings alone. `without` are fields that the command has no option for.
    """
    options: dict[str, Callable[[F], F]] = {}
    names: dict[str, dict[str, str]] = {}
    for target, settings in declared.items():
        shown = [f for f in fields(settings) if f.metadata.get("help") and f.name not in without]
        names[target] = {field.name: _parameter(field) for field in shown}
        for field in shown:
            options.setdefault(_parameter(field), option_of(settings, field.name))

    def add(command: F) -> F:
        @functools.wraps(command)
        def with_settings(*arguments: Any, **values: Any) -> Any:
            source = click.get_current_context().get_parameter_source
            given = {name: values.pop(name) for name in options}
            chosen = [name for name in given if source(name) != ParameterSource.DEFAULT]
            for target, settings in declared.items():
                own = {f: given[name] for f, name in names[target].items() if name in chosen}
                values[target] = (build or settings)(**own)
            return command(*arguments, **values)

        decorated: Any = with_settings
        for option in reversed(options.values()):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return add


def option_of(settings: type[Any], name: str) -> Callable[[F], F]:
    """Return the option of one field of a settings dataclass, as a decorator."""
    (field,) = (each for each in fields(settings) if each.name == name)
    hint = get_type_hints(settings)[name]
    about = field.metadata
    flag = f"--{_parameter(field).replace('_', '-')}"
    if hint is bool:
        return click.option(flag, is_flag=True, help=about["help"])
    kind: Any = next((kind for kind in (int, float) if kind in (hint, *get_args(hint))), str)
    if about["choices"]:
        kind = click.Choice(about["choices"])
    elif about["bounds"]:
        kind = (click.IntRange if kind is int else click.FloatRange)(*about["bounds"])
    told = {"help": about["help"], "metavar": about["metavar"], "envvar": about["variable"]}
    told["show_default"] = field.default not in (None, ())
    is_repeated = get_origin(hint) is tuple
    return click.option(flag, type=kind, multiple=is_repeated, default=field.default, **told)


def _parameter(field: Field[Any]) -> str:
    return str(field.metadata["option"] or field.name).replace("-", "_")


class PartName(click.Choice[str]):
    """The name of a part of a kind that is plugged in; looked up only where it is given."""

    choices: Any = property(lambda self: tuple(plugged(self._kind)), lambda self, _: None)

    def __init__(self, kind: str) -> None:
        self._kind = kind
        super().__init__(())


FILE = click.Path(dir_okay=False, path_type=Path)


def drawn_options(command: F) -> F:
    """Add `--html`, `--mermaid` and `--as` to a command whose result is an answer."""
    about = "Write it to this file, as a page that needs no network."
    html = click.option("--html", type=FILE, help=about)
    mermaid = click.option("--mermaid", "as_mermaid", is_flag=True, help="Print it as Mermaid.")
    form = click.option("--as", "form_as", type=PartName("renderer"), help="Print it in this form.")
    return html(mermaid(form(command)))


def default_option(name: str, default: Any, help: str, **more: Any) -> Callable[[F], F]:
    """Return an option of the default's type, which the help shows."""
    return click.option(name, default=default, show_default=True, help=help, **more)


def _name_option(kind: str, *, required: bool = True, help: str) -> Callable[[F], F]:
    """Return a decorator that adds `--corpus` or `--graph` to a command."""
    variable = f"KGP_NEO4J_{kind.upper()}"
    help = f"{help} (or {variable})."
    return click.option(f"--{kind}", required=required, envvar=variable, metavar="NAME", help=help)


corpus_option = functools.partial(_name_option, "corpus", help="The corpus")
graph_option = functools.partial(_name_option, "graph", help="The knowledge graph")


#: Adds `--trace` and `--no-trace`, with the setting's value where neither is given.
trace_option = click.option(
    "--trace/--no-trace",
    "history",
    help="Keep the traversal in the graph, for `kgp-neo4j history` and `explain` (default: the "
    "setting ask.history).",
)


def show_option(default: int, what: str, *, least: int = 0) -> Callable[[F], F]:
    """Return a decorator that adds `--show`, the number of things that are printed."""
    told = f"{what} that are printed."
    return default_option("--show", default, told, type=click.IntRange(min=least))


def retriever_options(command: F) -> F:
    """Add the options of a retriever to a command, by the parameters of `make_pipeline`."""
    about = "Who chooses the next passages (default: learned where all graphs are made)."
    agent = click.option("--agent", type=PartName("agent"), help=about)
    about = "Who orders the passages: `mdr`, an encoder for questions of several steps, or `llm`, "
    about += "one call of the language model."
    rerank = default_option("--rerank", "none", about, type=click.Choice(get_args(Rerank)))
    traversal: Any = settings_options(build=traversal_settings, settings=TraversalSettings)
    parts: Any = settings_options(agent_settings=AgentSettings)
    return agent(parts(traversal(rerank(command))))  # type: ignore[no-any-return]


def llm_option(use: str, *, multiple: bool = False) -> Callable[[F], F]:
    """Return a decorator that adds `--llm`, once or `multiple` times, for the `use` of a model."""
    return click.option(
        "--llm",
        metavar="NAME",
        multiple=multiple,
        # click would cut the variable's value at blanks; the configuration reads it, too.
        envvar=None if multiple else "KGP_NEO4J_LLM",
        help=f"The language model that {use}: NAME of a chat server, local:FILE.gguf, auto (the "
        "first that is there), or none (or KGP_NEO4J_LLM; default: as configured).",
    )


chat_url_option = option_of(AgentSettings, "url")


def answerer_options(command: F) -> F:
    """Add `--form`, for a language model's reply, and `--reader`, which answers without one."""
    about = "What the language model writes: a few words and why, or a paragraph."
    form = default_option("--form", "short", about, type=click.Choice(get_args(Form)))
    about = "An offline reader made by `kgp-neo4j train reader` (or KGP_NEO4J_READER)."
    reader = click.option("--reader", metavar="FOLDER", envvar="KGP_NEO4J_READER", help=about)
    return form(reader(command))


def opened_model(llm: str | None, chat_url: str | None) -> LanguageModel | None:
    """Open the model that the options name, else the configured one; None where neither is."""
    from kgp_neo4j.environment.configuration import language_settings
    from kgp_neo4j.llm.chat import AUTO, HOW_TO_GET_ONE, open_language_model

    settings = language_settings(model=llm, url=chat_url)
    model = open_language_model(settings)
    if (settings.model or "").strip().lower() == AUTO:
        found = f"Language model: {plain(model.name)}." if model else ""
        say(found or f"No language model. {HOW_TO_GET_ONE}")
    return model


def answering_model(llm: str | None, **options: Any) -> LanguageModel | None:
    """Open the model that answers: that of `--llm`, of `--agent chat`, or the configured one."""
    settings: AgentSettings = options["agent_settings"]
    named = llm or (settings.model if options["agent"] == "chat" else None)
    return opened_model(named, settings.url)
