"""Mark an answer's words and its supporting sentences in the passages."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import regex
from markupsafe import Markup, escape

from kgp_neo4j.text.safe import printable
from kgp_neo4j.types.corpus import Answer, Passage, SupportingSentence

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
