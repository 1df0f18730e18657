"""The optional packages, and the extras that install them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec

from kgp_neo4j.types.errors import ConfigurationError, KgpError


def installed_extras() -> list[str]:
    """Return the extras all of whose packages are installed, but for those of development."""
    whole = dict[str, bool]()
    for requirement in metadata.requires("kgp-neo4j") or ():
        told = re.match(r"([\w.-]+).*extra == ['\"]([\w-]+)", requirement)
        if told and told[2] not in ("test", "docs", "dev"):
            whole.setdefault(told[2], True)
            try:
                metadata.version(told[1])
            except metadata.PackageNotFoundError:
                whole[told[2]] = False
    return [name for name, is_whole in whole.items() if is_whole]


def is_installed(module: str) -> bool:
    """Return whether a module can be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # import is blocked, or the package is incomplete
        return False


@contextmanager
def needs(
    extra: str, what: str, error: type[KgpError] = ConfigurationError, *, where: str | None = None
) -> Iterator[None]:
    """Turn an ImportError in the block into an `error` that names the extra to install."""
    try:
        yield
    except ImportError as failure:
        package = (failure.name or str(failure)).partition(".")[0]
        hint = f'Install it: pip install "kgp-neo4j[{extra}]".'
        raise error(f"{what} needs the package {package}", where=where, hint=hint) from failure
