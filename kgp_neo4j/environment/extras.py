"""The optional packages, and the extras that install them."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from kgp_neo4j.types.errors import ConfigurationError, KgpError

#: The extras of the package, each with a module that only it installs.
_EXTRAS = {
    "torch": "sentence_transformers",
    "train": "lightgbm",
    "chat": "openai",
    "local": "xllamacpp",
    "office": "openpyxl",
    "ocr": "rapidocr",
    "rdf": "rdflib",
    "mcp": "mcp",
    "langchain": "langchain_core",
    "graphrag": "neo4j_graphrag",
    "serve": "prometheus_client",
    "notebook": "IPython",
    "gds": "graphdatascience",
    "py2neo": "py2neo",
    "testcontainers": "testcontainers",
}


def installed_extras() -> list[str]:
    """Return the extras whose packages are installed, without importing them."""
    return [name for name, module in _EXTRAS.items() if is_installed(module)]


def is_installed(module: str) -> bool:
    """Return whether a module can be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # import is blocked, or the package is incomplete
        return False


@contextmanager
def needs(
    extra: str,
    feature: str,
    error: type[KgpError] = ConfigurationError,
    *,
    where: str | None = None,
) -> Iterator[None]:
    """Turn an ImportError in the block into an `error` that names the extra to install."""
    try:
        yield
    except ImportError as failure:
        package = (failure.name or str(failure)).partition(".")[0]
        raise error(
            f"{feature} needs the package {package}",
            where=where,
            hint=f'Install it: pip install "kgp-neo4j[{extra}]".',
        ) from failure
