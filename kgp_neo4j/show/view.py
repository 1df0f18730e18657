"""What answers show, decided in one place (every door only lays it out), and marks in passages."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import regex
from markupsafe import Markup, escape

from kgp_neo4j.text.safe import printable
from kgp_neo4j.types.corpus import Answer, Passage, SupportingSentence
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


Interval = tuple[int, int]
#: Characters of a passage that is shown whole, and those shown around a mark in a longer one.
_WHOLE, _AROUND, _LONG_WORD = 420, 110, 25


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks in one passage: intervals of its text, in order and without overlaps."""

    answer: tuple[Interval, ...] = ()
    sentences: tuple[Interval, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.answer or self.sentences)


def marks_of(answer: Answer, passage: Passage) -> Marks:
    """Return the marks of an answer in a passage.

    The words are the reader's spans; without a reader, the places of a short answer in a cited
    passage. For yes and no the reader's span is the sentence that decided.
    """
    by_reader = answer.reading is not None and not answer.statements
    shown = answer.shown_sentences if by_reader else answer.sentences
    sentences = [(s.start, s.end) for s in shown if s.passage == passage.id]
    words: list[Interval] = []
    if answer.from_structure:
        return Marks(sentences=_merged(sentences, passage.text))
    if answer.reading is not None and by_reader:
        spans = [(s.start, s.end) for s in answer.reading.spans if s.passage == passage.id]
        if answer.reading.kind in ("span", "parts"):
            words = spans
        else:
            sentences += spans
    elif passage.id in {s.passage for s in answer.sentences}.union(
        *(s.passages for s in answer.statements)
    ):
        # A model's short answer is its first sentence; the text has its citations, too.
        answer_text = answer.statements[0].text if answer.statements else answer.text
        words = _found(answer_text, passage.text)
    return Marks(_merged(words, passage.text), _merged(sentences, passage.text))


def marked_html(passage: Passage, marks: Marks) -> Markup:
    """Return a passage's text as HTML with its marks; of a long one what is around them."""
    text, start = passage.text, 0
    end = len(text)
    if end > _WHOLE:
        marked = (*marks.answer, *marks.sentences) or [(0, 2 * _AROUND)]
        # No word is cut, but very long ones.
        at = max(min(marked)[0] - _AROUND, 0)
        start = text.rfind(" ", max(at - _LONG_WORD, 0), at) + 1 or at
        at = min(max(last for _, last in marked) + _AROUND, end)
        after = text.find(" ", at, at + _LONG_WORD)
        end = at if after < 0 else after
    cut = Markup(" … ")
    shown = _marked(text, start, end, marks)
    return (cut if start else Markup("")) + shown + (cut if end < len(text) else Markup(""))


def marked_sentence(answer: Answer, sentence: SupportingSentence) -> Markup:
    """Return a sentence as HTML with the words of the answer that the reader found in it."""
    text = sentence.text
    return _marked(text, 0, len(text), Marks(words_in(answer, sentence)))


def words_in(answer: Answer, sentence: SupportingSentence) -> tuple[Interval, ...]:
    """Return the places in a sentence's text of the words that the reader found in it."""
    reading, text = None if answer.statements else answer.reading, sentence.text
    # A trace may have lost its documents.
    source = next((p.text for p in answer.passages if p.id == sentence.passage), "")
    found: list[Interval] = []
    for span in reading.spans if reading is not None and reading.kind == "span" else ():
        if span.passage == sentence.passage and sentence.start <= span.start < sentence.end:
            at = span.start - sentence.start
            if source and not source.startswith(text, sentence.start):
                # A row is shown with its columns' names: its cells stand behind those.
                at = text.rfind(source[span.start : span.end])
            found.append((at, at + span.end - span.start))
    return _merged(found, text)


def _found(words: str, text: str) -> list[Interval]:
    sought = " ".join(words.split()).strip(" .")
    if not sought or len(sought) > 80:  # a sentence of a model's own stands in no passage
        return []
    pattern = r"\s+".join(regex.escape(word) for word in sought.split())
    # Not part of a longer word; Chinese has no spaces between words.
    bounds = (r"(?<![\w--\p{Han}])", r"(?![\w--\p{Han}])")
    flags = regex.VERSION1 | regex.IGNORECASE
    return [m.span() for m in regex.finditer(f"{bounds[0]}{pattern}{bounds[1]}", text, flags)]


def _merged(intervals: Iterable[Interval], text: str) -> tuple[Interval, ...]:
    """Return the intervals in order, overlapping ones joined, without spaces after sentences."""
    joined: list[Interval] = []
    for start, end in sorted(intervals):
        if not (0 <= start < end <= len(text) and text[start:end].strip()):
            continue
        end = start + len(text[start:end].rstrip())
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return tuple(joined)


def _marked(text: str, start: int, end: int, marks: Marks) -> Markup:
    """Return a part of a text with its marks: sentences, and the answer's words within them."""
    pieces = []
    cuts = {start, end, *(x for s in marks.sentences for x in s if start < x < end)}
    for first, last in pairwise(sorted(cuts)):
        piece = Markup("")
        at = first
        for begin, stop in marks.answer:
            begin, stop = max(begin, first), min(stop, last)
            if begin < stop:
                words = Markup('<mark class="a">{}</mark>').format(_escaped(text[begin:stop]))
                piece += _escaped(text[at:begin]) + words
                at = stop
        piece += _escaped(text[at:last])
        if any(begin <= first and last <= stop for begin, stop in marks.sentences):
            piece = Markup('<mark class="s">{}</mark>').format(piece)
        pieces.append(piece)
    return Markup("").join(pieces)


def _escaped(text: str) -> Markup:
    return escape(printable(text))
