"""What a corpus and a knowledge graph of the Python API share: a name, a database, models."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from kgp_neo4j.configuration import language_settings
from kgp_neo4j.database import Database
from kgp_neo4j.installation import open_database
from kgp_neo4j.language import LanguageModel
from kgp_neo4j.models.language import open_language_model

__all__ = ["Opened"]


class Opened:
    """Something named in a database, which it opens itself unless it is given one."""

    def __init__(self, name: str, *, database: Database | None = None) -> None:
        self.name = name
        self._own = database is None
        self.database = database or open_database()
        self._models: dict[str, LanguageModel | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection to the database, unless it was given."""
        if self._own:
            self.database.close()

    def _model(self, model: LanguageModel | str | None) -> LanguageModel | None:
        """Return a model, opened once where it is named."""
        if not isinstance(model, str):
            return model
        if model not in self._models:
            self._models[model] = open_language_model(language_settings(model=model))
        return self._models[model]
