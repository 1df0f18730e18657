"""kgp-neo4j: questions over many documents, answered from a graph in Neo4j with evidence.

The names below are the public surface; each is imported when it is first used, so that importing
the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgp_neo4j.answer.mindmap.records import (
        Candidate,
        Carried,
        Facts,
        MapEdge,
        MindMap,
        ModelReply,
        OptionScore,
        Support,
    )
    from kgp_neo4j.api import Corpus
    from kgp_neo4j.connect import EntitySettings, KeywordSettings, MdrSettings, SimilaritySettings
    from kgp_neo4j.database import Database
    from kgp_neo4j.errors import KgpError
    from kgp_neo4j.evidence.mining import MiningSettings
    from kgp_neo4j.installation import Installed, install, open_database
    from kgp_neo4j.knowledge_graph import KnowledgeGraph
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
    from kgp_neo4j.seed.linking import LinkSettings
    from kgp_neo4j.structures import Citation, ShownQuery, StructuralAnswer, TypeDecision
    from kgp_neo4j.traverse import Agent, AgentSettings, TraversalSettings
    from kgp_neo4j.traverse.exploration import ExplorationSettings
    from kgp_neo4j.triples import EvidenceGraph, GraphAccount, LinkedEntity, ReasoningGraph, Triple

_HOMES = {
    "Account": "records",
    "Agent": "traverse",
    "AgentSettings": "traverse",
    "Answer": "records",
    "Candidate": "answer.mindmap.records",
    "Capabilities": "records",
    "Carried": "answer.mindmap.records",
    "Citation": "structures",
    "ConnectReport": "records",
    "Corpus": "api",
    "Database": "database",
    "EntitySettings": "connect",
    "EvidenceGraph": "triples",
    "ExplorationSettings": "traverse.exploration",
    "Facts": "answer.mindmap.records",
    "GraphAccount": "triples",
    "Installed": "installation",
    "KeywordSettings": "connect",
    "KgpError": "errors",
    "KnowledgeGraph": "knowledge_graph",
    "LanguageModel": "language",
    "LinkSettings": "seed.linking",
    "LinkedEntity": "triples",
    "MapEdge": "answer.mindmap.records",
    "MdrSettings": "connect",
    "MindMap": "answer.mindmap.records",
    "MiningSettings": "evidence.mining",
    "ModelReply": "answer.mindmap.records",
    "NextEvidence": "records",
    "OptionScore": "answer.mindmap.records",
    "Passage": "records",
    "Question": "records",
    "Reading": "readings",
    "ReasoningGraph": "triples",
    "ReasoningPath": "records",
    "Reply": "language",
    "Retrieval": "records",
    "ShownQuery": "structures",
    "SimilaritySettings": "connect",
    "Span": "readings",
    "Statement": "readings",
    "Step": "records",
    "StructuralAnswer": "structures",
    "Support": "answer.mindmap.records",
    "SupportingSentence": "records",
    "TraversalSettings": "traverse",
    "Triple": "triples",
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
    "Candidate",
    "Capabilities",
    "Carried",
    "Citation",
    "ConnectReport",
    "Corpus",
    "Database",
    "EntitySettings",
    "EvidenceGraph",
    "ExplorationSettings",
    "Facts",
    "GraphAccount",
    "Installed",
    "KeywordSettings",
    "KgpError",
    "KnowledgeGraph",
    "LanguageModel",
    "LinkSettings",
    "LinkedEntity",
    "MapEdge",
    "MdrSettings",
    "MindMap",
    "MiningSettings",
    "ModelReply",
    "NextEvidence",
    "OptionScore",
    "Passage",
    "Question",
    "Reading",
    "ReasoningGraph",
    "ReasoningPath",
    "Reply",
    "Retrieval",
    "ShownQuery",
    "SimilaritySettings",
    "Span",
    "Statement",
    "Step",
    "StructuralAnswer",
    "Support",
    "SupportingSentence",
    "TraversalSettings",
    "Triple",
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
