"""kgp-neo4j: questions over many documents, answered from a graph in Neo4j with evidence.

The names below are the public surface; each is imported when it is first used, so that importing
the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgp_neo4j.api import Corpus
    from kgp_neo4j.connect import (
        EntitySettings,
        KeywordSettings,
        MdrSettings,
        SimilaritySettings,
    )
    from kgp_neo4j.database import Database
    from kgp_neo4j.errors import KgpError
    from kgp_neo4j.installation import Installed, install, open_database
    from kgp_neo4j.language import LanguageModel, Reply, Usage
    from kgp_neo4j.readings import Reading, Span, Statement
    from kgp_neo4j.records import (
        Account,
        Answer,
        Capabilities,
        ConnectReport,
        NextEvidence,
        Passage,
        Question,
        ReasoningPath,
        Retrieval,
        Step,
        SupportingSentence,
    )
    from kgp_neo4j.structures import Citation, ShownQuery, StructuralAnswer, TypeDecision
    from kgp_neo4j.traverse import Agent, AgentSettings, TraversalSettings

_HOMES = {
    "Account": "records",
    "Agent": "traverse",
    "AgentSettings": "traverse",
    "Answer": "records",
    "Capabilities": "records",
    "Citation": "structures",
    "ConnectReport": "records",
    "Corpus": "api",
    "Database": "database",
    "EntitySettings": "connect",
    "Installed": "installation",
    "KeywordSettings": "connect",
    "KgpError": "errors",
    "LanguageModel": "language",
    "MdrSettings": "connect",
    "NextEvidence": "records",
    "Passage": "records",
    "Question": "records",
    "Reading": "readings",
    "ReasoningPath": "records",
    "Reply": "language",
    "Retrieval": "records",
    "ShownQuery": "structures",
    "SimilaritySettings": "connect",
    "Span": "readings",
    "Statement": "readings",
    "Step": "records",
    "StructuralAnswer": "structures",
    "SupportingSentence": "records",
    "TraversalSettings": "traverse",
    "TypeDecision": "structures",
    "Usage": "language",
    "install": "installation",
    "open_database": "installation",
}

__all__ = [
    "Account",
    "Agent",
    "AgentSettings",
    "Answer",
    "Capabilities",
    "Citation",
    "ConnectReport",
    "Corpus",
    "Database",
    "EntitySettings",
    "Installed",
    "KeywordSettings",
    "KgpError",
    "LanguageModel",
    "MdrSettings",
    "NextEvidence",
    "Passage",
    "Question",
    "Reading",
    "ReasoningPath",
    "Reply",
    "Retrieval",
    "ShownQuery",
    "SimilaritySettings",
    "Span",
    "Statement",
    "Step",
    "StructuralAnswer",
    "SupportingSentence",
    "TraversalSettings",
    "TypeDecision",
    "Usage",
    "install",
    "open_database",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
