"""Mind map: an answer over a knowledge graph, with every edge of its reasoning checked."""

from kgp_neo4j.answer.mindmap.asking import answer_from, ask_graph
from kgp_neo4j.answer.mindmap.check import Checker, carried
from kgp_neo4j.answer.mindmap.compose import rank_candidates
from kgp_neo4j.answer.mindmap.dialogue import as_question, read_turns
from kgp_neo4j.answer.mindmap.drawing import mermaid, tree_lines
from kgp_neo4j.answer.mindmap.picture import page, svg
from kgp_neo4j.answer.mindmap.prompt import evidence_lines, five_parts
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
from kgp_neo4j.answer.mindmap.reply import parse_reply

__all__ = [
    "Candidate",
    "Carried",
    "Checker",
    "Facts",
    "MapEdge",
    "MindMap",
    "ModelReply",
    "OptionScore",
    "Support",
    "answer_from",
    "as_question",
    "ask_graph",
    "carried",
    "evidence_lines",
    "five_parts",
    "mermaid",
    "page",
    "parse_reply",
    "rank_candidates",
    "read_turns",
    "svg",
    "tree_lines",
]
