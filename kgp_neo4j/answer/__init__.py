"""Answer: from evidence to an answer with citations."""

from kgp_neo4j.answer.asking import TYPES, Retrieves, answered_by, ask, from_retrieval
from kgp_neo4j.answer.browser import browser_link
from kgp_neo4j.answer.ircot import ASK_METHODS, Ircot, with_method
from kgp_neo4j.answer.prompting import FORMS
from kgp_neo4j.answer.support import supporting_sentences

__all__ = [
    "ASK_METHODS",
    "FORMS",
    "TYPES",
    "Ircot",
    "Retrieves",
    "answered_by",
    "ask",
    "browser_link",
    "from_retrieval",
    "supporting_sentences",
    "with_method",
]
