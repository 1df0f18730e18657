"""kgp-neo4j: questions over many documents, answered from a graph in Neo4j with evidence.

Each name below is imported when it is first used, so that importing the package costs nothing. The
records that they give and take stand in `kgp_neo4j.types`; the folders say what else there is.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgp_neo4j.corpus.corpus import Corpus
    from kgp_neo4j.corpus.pipeline import Answerer, Pipeline, Retriever
    from kgp_neo4j.corpus.traverse.algorithm import Agent
    from kgp_neo4j.graphdb.database import Database, install, open_database
    from kgp_neo4j.mindmap.knowledge_graph import KnowledgeGraph
    from kgp_neo4j.types.corpus import (
        Answer,
        ConnectReport,
        Document,
        LanguageModel,
        LoadReport,
        Passage,
        Question,
        ReasoningPath,
        Retrieval,
    )
    from kgp_neo4j.types.errors import KgpError
    from kgp_neo4j.types.mindmap import MindMap
    from kgp_neo4j.types.settings import (
        AgentSettings,
        EntitySettings,
        KeywordSettings,
        MiningSettings,
        SimilaritySettings,
        TraversalSettings,
    )

#: The exported names of each module, and the module of each name.
_EXPORTS = {
    "corpus.corpus": "Corpus",
    "corpus.pipeline": "Answerer Pipeline Retriever",
    "corpus.traverse.algorithm": "Agent",
    "graphdb.database": "Database install open_database",
    "mindmap.knowledge_graph": "KnowledgeGraph",
    "types.corpus": "Answer ConnectReport Document LanguageModel LoadReport Passage Question "
    "ReasoningPath Retrieval",
    "types.errors": "KgpError",
    "types.mindmap": "MindMap",
    "types.settings": "AgentSettings EntitySettings KeywordSettings MiningSettings "
    "SimilaritySettings TraversalSettings",
}
_HOMES = {name: module for module, names in _EXPORTS.items() for name in names.split()}

__all__ = [
    "Agent", "AgentSettings", "Answer", "Answerer", "ConnectReport", "Corpus", "Database",
    "Document", "EntitySettings", "KeywordSettings", "KgpError", "KnowledgeGraph", "LanguageModel",
    "LoadReport", "MindMap", "MiningSettings", "Passage", "Pipeline", "Question", "ReasoningPath",
    "Retrieval", "Retriever", "SimilaritySettings", "TraversalSettings", "install", "open_database",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
