"""Answers, retrievals and evidence as the plain values that a tool of the server returns."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import Any

from kgp_neo4j.answer.mindmap import MindMap, mermaid
from kgp_neo4j.database import Row
from kgp_neo4j.integrations.passages import described
from kgp_neo4j.records import Answer, Passage, Retrieval
from kgp_neo4j.triples import EvidenceGraph

__all__ = ["told_answer", "told_evidence", "told_mind_map", "told_neighbours", "told_passages"]


def told_passages(found: Retrieval | Answer, limit: int) -> list[dict[str, Any]]:
    """Return the best passages, each with its text and how it was found."""
    return [{**known, "text": text.text} for text, known in islice(described(found), limit)]


def told_answer(answer: Answer, limit: int) -> dict[str, Any]:
    """Return an answer with at most `limit` of its passages."""
    made: dict[str, Any] = {
        "answer": answer.text,
        "type": answer.type.type,
        "agent": answer.agent,
        "passages": told_passages(answer, limit),
        "notes": list(answer.notes),
        "browser": answer.browser,
        "seconds": round(answer.seconds, 3),
    }
    if answer.reading is not None:
        made["reading"] = {"kind": answer.reading.kind, "confidence": answer.reading.confidence}
    elif answer.supporting:
        made["supporting"] = {
            "text": answer.supporting[0].text,
            "passage": answer.supporting[0].passage,
        }
    if answer.statements:
        made["statements"] = [asdict(each) for each in answer.statements]
    if answer.structural is not None:
        told = answer.structural
        made["structural"] = {
            "text": told.text,
            "values": list(told.values),
            "sure": told.sure,
            "found": told.found,
            "doubt": told.doubt,
            "reading": told.reading,
            "citations": [asdict(each) for each in told.citations[:50]],
            "markdown": told.markdown,
        }
    return made


def told_evidence(found: EvidenceGraph) -> dict[str, Any]:
    """Return a path or a neighbourhood as triples."""
    return {
        "triples": [[t.head, t.relation, t.tail] for t in found.triples],
        "along": list(found.nodes),
        "score": round(found.score, 4),
    }


def told_mind_map(made: MindMap) -> dict[str, Any]:
    """Return a mind map: its answer, its edges, and the same as Mermaid."""
    return {
        "answer": made.text,
        "by": made.by,
        "entities": [
            {"surface": e.surface, "name": e.name, "score": e.score}
            for e in made.reasoning.entities
        ],
        "edges": [
            {"head": e.head, "relation": e.relation, "tail": e.tail, "status": e.status}
            for e in made.edges
        ],
        "routes": list(made.reasoning.routes[:20]),
        "mermaid": mermaid(made.edges),
        "notices": list(made.notices),
        "browser": made.browser,
        "seconds": round(made.seconds, 3),
    }


def told_neighbours(passage: Passage, rows: list[Row]) -> dict[str, Any]:
    """Return a passage with its neighbours, the weightiest first: over which edge, and why."""
    return {
        "id": passage.id,
        "title": passage.title,
        "neighbours": [
            {
                "id": row["neighbour"]["id"],
                "title": row["neighbour"]["title"],
                "edge": row["edge"],
                "weight": round(row["weight"], 4),
                "reason": row["reason"],
                "text": row["neighbour"]["text"],
            }
            for row in rows
        ],
    }
