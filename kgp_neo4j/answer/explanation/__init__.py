"""Explanation: an answer as something to look at, with all that is needed to check it."""

from kgp_neo4j.answer.explanation.diagram import mermaid
from kgp_neo4j.answer.explanation.queries import browser_lines, queries_of
from kgp_neo4j.answer.explanation.tree import svg
from kgp_neo4j.answer.explanation.visits import Visit, visits
from kgp_neo4j.answer.explanation.writing import page

__all__ = ["Visit", "browser_lines", "mermaid", "page", "queries_of", "svg", "visits"]
