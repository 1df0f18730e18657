"""Answers, passages and mind maps as a response shows them: with marks, without folders."""

from pathlib import PurePath
from typing import Any

from kgp_neo4j.integrations.records import structural_record
from kgp_neo4j.show.trees import map_tree, path_tree
from kgp_neo4j.show.view import marks_of
from kgp_neo4j.types.corpus import Answer, Document, Passage, Retrieval
from kgp_neo4j.types.json_records import parts
from kgp_neo4j.types.mindmap import MindMap, ReasoningGraph


def passage_record(passage: Passage) -> dict[str, Any]:
    """Return a passage; of its file only the name, since others see it."""
    names = "id document title name position start end text score page section recognised"
    return parts(passage, *names.split()) | {"source": PurePath(passage.source).name}


def passage_records(retrieval: Retrieval | Answer) -> list[dict[str, Any]]:
    """Return passages, best first, each with the path that led to it."""
    paths = {path.last: path.steps for path in retrieval.paths}
    names = ("passage", "edge", "reason", "why", "score")
    return [
        passage_record(passage)
        | {"path": [parts(step, *names) for step in paths.get(passage.id, ())]}
        for passage in retrieval.passages
    ]


def document_record(document: Document, apart: str) -> dict[str, Any]:
    """Return a document; of its files only the names, or what tells it `apart` from others."""
    record = parts(document, "id", "title", "characters", "passages")
    names = dict.fromkeys(PurePath(source).name for source in document.sources)
    return record | {"source": apart or ", ".join(names)}


def answer_record(answer: Answer) -> dict[str, Any]:
    """Return an answer with its passages, and what it marks in them.

    `said` is what is shown as the answer below `heading`, `by` says who answered; `cited` are the
    ids of the passages that it rests on; `marks` has by id the intervals of a passage's text that
    are the answer's words, and those of its sentences; `tree` is how it was found, to be drawn.
    """
    marks = {passage.id: marks_of(answer, passage) for passage in answer.passages}
    names = "question corpus text said heading summary stated tier probably confidence by agent"
    return {
        **parts(answer, *names.split()),
        "type": answer.type.type,
        "sentences": answer.shown_sentences,
        "statements": answer.statements,
        "cited": answer.rests_on,
        "passages": passage_records(answer),
        "marks": {key: parts(each, "answer", "sentences") for key, each in marks.items() if each},
        "structural": structural_record(answer.structural),
        "tree": path_tree(answer),
        **parts(answer, "usage", "notes", "trace", "seconds"),
    }


def reasoning_record(reasoning: ReasoningGraph) -> dict[str, Any]:
    """Return the evidence of a question over a knowledge graph."""
    return {
        "entities": reasoning.entities,
        "triples": [parts(triple, "head", "relation", "tail") for triple in reasoning.triples],
        "routes": reasoning.routes[:50],
    }


def map_record(mind_map: MindMap) -> dict[str, Any]:
    """Return a mind map with the evidence that it was checked against."""
    names = ("question", "graph", "text", "by", "edges", "notices", "seconds")
    drawn = {"evidence": reasoning_record(mind_map.reasoning), "tree": map_tree(mind_map)}
    return parts(mind_map, *names) | drawn
