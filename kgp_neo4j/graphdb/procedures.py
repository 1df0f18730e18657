"""The stored procedures as Python functions, made from the files under `cypher/procedures/`.

    from kgp_neo4j.graphdb import procedures
    rows = procedures.seeds(database, question="Who built the lighthouse?", corpus="demo")

Each function runs the text of its file with parameters and returns a list of rows; name, signature
and docstring come from the file's header, as those of `SHOW PROCEDURES` and docs/procedures.md do.
The procedures need not be installed. The options of a configuration are keyword arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.statements import Statement, folder

__all__ = sorted(
    procedure.path.split("/")[-1].removesuffix(".cypher") for procedure in folder("procedures")
)


def _function(name: str, procedure: Statement) -> Callable[..., list[Row]]:
    def call(database: Database, **values: Any) -> list[Row]:
        return database.read(f"procedures/{name}", **values)

    keywords = [
        inspect.Parameter(
            parameter.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if parameter.default is None else parameter.value,
            annotation=parameter.type,
        )
        for parameter in (*procedure.inputs, *procedure.options)
        if parameter.name != "configuration"
    ]
    first = inspect.Parameter(
        "database", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Database"
    )
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{procedure.documentation}\n\nIn Cypher: `custom.{procedure.signature}`."
    vars(call)["__signature__"] = inspect.Signature([first, *keywords])
    return call


globals().update(
    {
        name: _function(name, procedure)
        for name, procedure in zip(__all__, folder("procedures"), strict=True)
    }
)


def __getattr__(name: str) -> Callable[..., list[Row]]:
    raise AttributeError(f"there is no procedure {name!r}; there are {', '.join(__all__)}")
