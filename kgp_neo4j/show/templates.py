"""The templates of pages and pictures: nothing in them runs, is fetched, or is markup of others."""

from functools import cache
from pathlib import PurePath
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.text.safe import cut, printable


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("kgp_neo4j.show"),
        autoescape=True,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Others may see a page: of a file it has the name alone.
    environment.filters |= {
        "cut": cut,
        "file_name": lambda path: PurePath(path).name,
        "readable": readable,
    }
    return environment


def _shown(value: Any) -> Any:
    """Return a text without control characters; it is escaped after this."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else printable(value)


def render(name: str, **values: Any) -> str:
    """Return a template filled in; every text is escaped, unless it is Markup already."""
    return _environment().get_template(name).render(values)
