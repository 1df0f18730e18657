"""Questions over one table: read as a plan, run in the graph, answered with its cells."""

from kgp_neo4j.structure.table_questions.answering import answer_from_table

__all__ = ["answer_from_table"]
