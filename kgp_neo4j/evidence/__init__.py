"""Evidence: passages and reasoning paths for a question, by every retrieval method."""

from kgp_neo4j.evidence.retrieval import METHODS, Retriever

__all__ = ["METHODS", "Retriever"]
