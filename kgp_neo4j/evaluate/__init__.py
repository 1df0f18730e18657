"""Evaluate: many questions at once, in the run form that scorers read."""

from kgp_neo4j.evaluate.questions import read_questions
from kgp_neo4j.evaluate.run import run_questions

__all__ = ["read_questions", "run_questions"]
