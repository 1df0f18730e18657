"""Supporting sentences: which sentences of the evidence speak most to the question."""

from __future__ import annotations

from collections.abc import Sequence

from kgp_neo4j.load import sentences
from kgp_neo4j.models import Encoder
from kgp_neo4j.records import Passage, SupportingSentence
from kgp_neo4j.words import words

__all__ = ["supporting_sentences"]

_PASSAGES = 5
_SENTENCES = 40
_SHORTEST = 3


def supporting_sentences(
    question: str, passages: Sequence[Passage], encoder: Encoder | None, limit: int = 3
) -> tuple[SupportingSentence, ...]:
    """Return the sentences of the best passages that speak most to a question, best first.

    A sentence scores by its similarity to the question (cosine with an encoder, else the share of
    the question's words in it) and half of its passage's score, so that a passage the traversal
    trusts lends its sentences weight.
    """
    spans = [
        (passage, start, end)
        for passage in passages[:_PASSAGES]
        for start, end in sentences(passage.text)
        if len(words(passage.text[start:end])) >= _SHORTEST
    ][:_SENTENCES]
    if not spans:
        return ()
    # The title stands before the sentence, since sentences speak of "he" and "the film".
    texts = [f"{passage.title}. {passage.text[start:end]}" for passage, start, end in spans]
    scores = _cosines(question, texts, encoder) if encoder else _overlaps(question, texts)
    made = [
        SupportingSentence(
            text=passage.text[start:end].strip(),
            passage=passage.id,
            start=start,
            end=end,
            score=score + 0.5 * passage.score,
        )
        for (passage, start, end), score in zip(spans, scores, strict=True)
    ]
    return tuple(sorted(made, key=lambda s: -s.score)[:limit])


def _cosines(question: str, texts: Sequence[str], encoder: Encoder) -> list[float]:
    vectors = encoder.encode([question, *texts])
    return [float(x) for x in vectors[1:] @ vectors[0]]


def _overlaps(question: str, texts: Sequence[str]) -> list[float]:
    wanted = {w.lower() for w in words(question)}
    return [len(wanted & {w.lower() for w in words(text)}) / max(len(wanted), 1) for text in texts]
