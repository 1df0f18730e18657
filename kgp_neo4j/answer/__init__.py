"""Answer: from evidence to an answer with citations."""

from kgp_neo4j.answer.asking import TYPES, ask
from kgp_neo4j.answer.browser import browser_link
from kgp_neo4j.answer.support import supporting_sentences

__all__ = ["TYPES", "ask", "browser_link", "supporting_sentences"]
