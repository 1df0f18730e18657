"""The options that choose who answers, and the language model that they and the settings name."""

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from kgp_neo4j.cli._options import default_option, option_of
from kgp_neo4j.cli._output import say
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.corpus import Form
from kgp_neo4j.types.language import LanguageModel
from kgp_neo4j.types.settings import AgentSettings

F = TypeVar("F", bound=Callable[..., Any])

_FORM = default_option(
    "--form",
    "short",
    "What the language model writes: a few words and why, or a paragraph.",
    type=click.Choice(get_args(Form)),
)
_READER = click.option(
    "--reader",
    metavar="FOLDER",
    envvar="KGP_NEO4J_READER",
    help="An offline reader made by `kgp-neo4j train reader` (or KGP_NEO4J_READER).",
)


def llm_option(use: str, *, multiple: bool = False) -> Callable[[F], F]:
    """Return a decorator that adds `--llm` to a command; `use` describes the model's task there.

    With `multiple` it may be given more than once.
    """
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
    return _FORM(_READER(command))


def opened_model(llm: str | None, chat_url: str | None) -> LanguageModel | None:
    """Open the model that the options name, else the configured one; None where neither is."""
    from kgp_neo4j.environment.configuration import language_settings
    from kgp_neo4j.llm.call import AUTO, HOW_TO_GET_ONE, open_language_model

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
