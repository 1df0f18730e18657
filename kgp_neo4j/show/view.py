"""What an answer shows, decided in one place: every door only lays it out."""

from collections.abc import Iterable

from kgp_neo4j.types.corpus import Answer, Passage
from kgp_neo4j.types.mindmap import MapEdge
from kgp_neo4j.types.tables import Citation

#: What is said after an edge of a mind map that the graph does not support.
STATUS_MARKS = {
    "grounded": "",
    "question": "(said in the question)",
    "model": "(the model's own)",
    "contradicts": "(contradicts the graph)",
}


def edge_note(edge: MapEdge) -> str:
    """Return in brackets the reason for an edge's status, else the status; nothing if grounded."""
    return f"({edge.note})" if edge.note else STATUS_MARKS[edge.status]


def label(cited: Passage | Citation) -> str:
    """Return how a passage or a cell is cited at every door: its document, and its place in it."""
    title = cited.cited if isinstance(cited, Passage) else cited.title
    return ", ".join(filter(None, (title, cited.place)))


class AnswerView:
    """An answer with what all doors show of it.

    `numbers` are those of its passages by id, from 1. `quoted` are the sentences that stand beside
    what is said, `lead` what stands before them. `table` is the Markdown of pages and tables,
    unless it was said, `cells` the places that they cite, `sources` the passages cited anywhere.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer, self.structural = answer, answer.structural
        self.numbers = {passage.id: number for number, passage in enumerate(answer.passages, 1)}
        sentences = () if answer.statements else answer.shown_sentences
        self.quoted = [each for each in sentences if each.text != answer.said]
        self.lead = "Closest: " if answer.tier == "none" else ""
        table = self.structural.markdown if self.structural else ""
        self.table = "" if table in answer.said else table
        self.cells = self.structural.citations if self.structural else ()
        cited = {*answer.rests_on, *(each.passage for each in sentences)}
        cited |= {passage for each in answer.statements for passage in each.passages}
        self.sources = [passage for passage in answer.passages if passage.id in cited]
        self.by = _by_whom(answer)

    def cites(self, passages: Iterable[str]) -> str:
        """Return the numbers of passages in brackets; a trace may have lost some."""
        return "".join(f"[{self.numbers.get(passage, '?')}]" for passage in passages)


def _by_whom(answer: Answer) -> str:
    parts = []
    if answer.by == "reader" and answer.confidence is not None:
        parts.append(f"by the offline reader, confidence {answer.confidence:.2f}")
    if (usage := answer.usage) is not None:
        verb, about = "by" if answer.by == "model" else "asked", "about " if usage.estimated else ""
        cached = f" ({usage.cached} kept from before)" if usage.cached else ""
        calls = f"{usage.calls} call{'' if usage.calls == 1 else 's'}{cached}"
        tokens = f"{about}{usage.prompt_tokens:,} + {usage.reply_tokens:,} tokens"
        parts.append(f"{verb} {usage.model}, {calls}, {tokens}")
    return "; ".join(parts)
