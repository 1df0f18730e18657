"""Answers, passages and mind maps as a response shows them: with marks, without folders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import PurePath
from typing import Any

from kgp_neo4j.corpus.pipeline import answered_by
from kgp_neo4j.show.marks import marks_of, rests_on
from kgp_neo4j.types.corpus import Answer, Document, Passage, ReasoningPath, Retrieval
from kgp_neo4j.types.mindmap import MindMap, ReasoningGraph

__all__ = [
    "answer_record",
    "document_record",
    "map_record",
    "passage_record",
    "passage_records",
    "reasoning_record",
]


def passage_record(passage: Passage) -> dict[str, Any]:
    """Return a passage; of its file only the name, since others see it."""
    record = asdict(passage) | {"source": PurePath(passage.source).name}
    del record["columns"]
    return record


def passage_records(retrieval: Retrieval | Answer) -> list[dict[str, Any]]:
    """Return passages, best first, each with the path that led to it."""
    paths = {path.last: path for path in retrieval.paths}
    return [
        passage_record(passage) | {"path": _path(paths.get(passage.id))}
        for passage in retrieval.passages
    ]


def _path(path: ReasoningPath | None) -> list[dict[str, Any]]:
    if path is None:
        return []
    return [
        {
            "passage": step.passage,
            "edge": step.edge,
            "reason": step.reason,
            "signals": step.signals,
            "score": step.score,
        }
        for step in path.steps
    ]


def document_record(document: Document) -> dict[str, Any]:
    """Return a document; of its file only the name."""
    return asdict(document) | {"source": PurePath(document.source).name}


def answer_record(answer: Answer) -> dict[str, Any]:
    """Return an answer with its passages, and what it marks in them.

    `by` says who answered; `cited` are the ids of the passages that it rests on; `marks` has by id
    the intervals of a passage's text that are the answer's words, and those of its sentences.
    """
    record: dict[str, Any] = {
        "question": answer.question,
        "corpus": answer.corpus,
        "text": answer.text,
        "summary": answer.summary,
        "stated": answer.stated,
        "tier": answer.tier,
        "probably": answer.probably,
        "by": answered_by(answer),
        "type": answer.type.type,
        "agent": answer.agent,
        "confidence": answer.reading.confidence if answer.reading else None,
        "sentences": [asdict(each) for each in answer.shown_sentences],
        "statements": [asdict(each) for each in answer.statements],
        "cited": list(dict.fromkeys(rests_on(answer))),
        "passages": passage_records(answer),
        "marks": dict(_marks(answer)),
        "structural": None,
        "usage": asdict(answer.usage) if answer.usage else None,
        "notes": list(answer.notes),
        "trace": answer.trace,
        "seconds": answer.seconds,
    }
    if answer.structural is not None:
        structural = asdict(answer.structural)
        del structural["queries"]
        record["structural"] = structural | {"citations": structural["citations"][:50]}
    return record


def _marks(answer: Answer) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for passage in answer.passages:
        if marks := marks_of(answer, passage):
            yield passage.id, {"answer": marks.answer, "sentences": marks.sentences}


def reasoning_record(reasoning: ReasoningGraph) -> dict[str, Any]:
    """Return the evidence of a question over a knowledge graph."""
    return {
        "entities": [asdict(each) for each in reasoning.entities],
        "triples": [
            {"head": t.head, "relation": t.relation, "tail": t.tail} for t in reasoning.triples
        ],
        "routes": list(reasoning.routes[:50]),
    }


def map_record(mind_map: MindMap) -> dict[str, Any]:
    """Return a mind map with the evidence that it was checked against."""
    return {
        "question": mind_map.question,
        "graph": mind_map.graph,
        "text": mind_map.text,
        "by": mind_map.by,
        "edges": [asdict(each) for each in mind_map.edges],
        "evidence": reasoning_record(mind_map.reasoning),
        "notices": list(mind_map.notices),
        "seconds": mind_map.seconds,
    }
