"""Supporting sentences: which sentences of the evidence speak most to the question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import regex

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.text.words import title_words, words
from kgp_neo4j.types.corpus import Passage, Reading, Retrieval, Step, SupportingSentence

__all__ = ["asks_for_an_account", "holding_sentence", "supporting_sentences"]

_PASSAGES = 5
_SENTENCES = 20
_SHORTEST = 3
# Chosen on questions of HotpotQA; benchmarks/README.md has the figures.
_INHERITED = 0.6
_MATCH = 0.1
#: "How many" and "how old" ask for a few words.
_ACCOUNT = regex.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:why|explain|describe|for what reason|in what way|what happened|"
    r"how\s+(?:do|does|did|is|are|was|were|can|could|will|would|has|have|had|come|to)|"
    r"what (?:is|was) the (?:reason|purpose|cause)\b)|,\s*(?:and\s+)?(?:why|how) d(?:oes|id|o)\b",
    regex.IGNORECASE,
)


def supporting_sentences(
    retrieval: Retrieval, encoder: Encoder | None, limit: int = 3
) -> tuple[SupportingSentence, ...]:
    """Return the sentences of the best passages that speak most to a question, best first.

    A sentence scores by its similarity to what the question asks beyond the titles it names (cosine
    with an encoder, else the share of its words), and by its passage: what that inherited from the
    path before it counts most, since the end of a path holds what the question does not name.
    """
    reached = {path.last: path.steps[-1] for path in retrieval.paths}
    spans = [
        (passage, reached.get(passage.id) or Step(passage.id, "given", passage.score), start, end)
        for passage in retrieval.passages[:_PASSAGES]
        for start, end in sentences(passage.text)
        if len(words(passage.text[start:end])) >= _SHORTEST
        and not passage.text.startswith("#", start)  # a heading is no answer
    ][:_SENTENCES]
    if not spans:
        return ()
    asked = _asked(retrieval.question.text, retrieval.passages[:_PASSAGES])
    texts = [passage.text[start:end] for passage, _, start, end in spans]
    scores = _cosines(asked, texts, encoder) if encoder else _overlaps(asked, texts)
    made = [
        SupportingSentence(
            text=text.strip(),
            passage=passage.id,
            start=start,
            end=end,
            score=score + _INHERITED * step.inherited + _MATCH * step.match,
        )
        for (passage, step, start, end), text, score in zip(spans, texts, scores, strict=True)
    ]
    return tuple(sorted(made, key=lambda s: -s.score)[:limit])


def asks_for_an_account(question: str) -> bool:
    """Return whether a question asks why or how: a sentence answers it, and a few words do not."""
    return _ACCOUNT.search(question) is not None


def holding_sentence(reading: Reading, passages: Iterable[Passage]) -> SupportingSentence | None:
    """Return the sentence that the reader's answer stands in; its score is the confidence.

    None where the reader found nothing.
    """
    known = {passage.id: passage for passage in passages}
    for span in reading.spans:
        passage = known.get(span.passage)
        for start, end in sentences(passage.text) if passage else ():
            if passage and start <= span.start < end:
                text = passage.text[start:end].strip()
                return SupportingSentence(text, passage.id, start, end, reading.confidence)
    return None


def _asked(question: str, passages: Iterable[Passage]) -> str:
    """Return the question without the titles it names: those say where to look, not for what."""
    cased = words(question)
    low = [w.lower() for w in cased]
    named: set[int] = set()
    for form in {form for passage in passages for form in title_words(passage.title)}:
        title = [w.lower() for w in form]
        for at in range(len(low) - len(title) + 1):
            if low[at : at + len(title)] == title:
                named.update(range(at, at + len(title)))
    return " ".join(w for at, w in enumerate(cased) if at not in named) or question


def _cosines(asked: str, texts: Sequence[str], encoder: Encoder) -> list[float]:
    vectors = encoder.encode([asked, *texts])
    return [float(x) for x in vectors[1:] @ vectors[0]]


def _overlaps(asked: str, texts: Sequence[str]) -> list[float]:
    # Short words are mostly "the" and "who", which any sentence shares.
    wanted = {w.lower() for w in words(asked) if len(w) > _SHORTEST} or {asked.lower()}
    return [len(wanted & {w.lower() for w in words(text)}) / len(wanted) for text in texts]
