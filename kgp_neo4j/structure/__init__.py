"""Structural questions: what is asked of pages and tables, and the answers taken from them."""

from kgp_neo4j.structure.answering import answer_structural
from kgp_neo4j.structure.question_type import decide, decide_with_model

__all__ = ["answer_structural", "decide", "decide_with_model"]
