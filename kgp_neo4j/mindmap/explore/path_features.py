"""How near each word of a question is to each relation of a path, by meaning and place alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.mindmap.link.name_forms import spans
from kgp_neo4j.models.encoder import Encoder, embed
from kgp_neo4j.text.words import FUNCTION_WORDS

__all__ = ["GRAMMAR", "HOPS", "QuestionWords", "Step", "read_question"]

#: A relationship type, and whether it is walked along its direction.
Step = tuple[str, bool]

HOPS = 4
#: The words that a question is built with; all others count by their meaning alone.
GRAMMAR = ("", *sorted(FUNCTION_WORDS | {"same", "share", "other", "one", "ones"}))
_GRAMMAR_PLACE = {word: at for at, word in enumerate(GRAMMAR)}
#: Function words, but for those that ask for a person, a place or a time, mean no relation.
_SKIPPED = FUNCTION_WORDS - {"who", "where", "when"}
_LONGEST_SPAN = 3
_MOST_WORDS = 40
#: How near the words of a question are on average to the relations that it asks for, and how much
#: nearer they must be with each further word; chosen by questions over other graphs and by letters
#: to doctors, which ask for no path.
_NEAR = 0.36
_NEARER = 0.015


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The words of a question as the path scorer reads them.

    `near` is (4, relations, words): the cosine of a relation's name and the best span with a word;
    how far that is above the mean of all relations, and below the best of them; and the cosine of
    the word alone. `grammar` are the numbers of the words in GRAMMAR (0 for any other), `place`
    their places from the entity (negative before it), `mention` which of them is the entity.
    """

    near: NDArray[np.float32]
    grammar: NDArray[np.intp]
    place: NDArray[np.float32]
    mention: NDArray[np.bool_]

    def weights(self) -> NDArray[np.float32]:
        """Return a weight for each relation: how near the question comes to its name."""
        best: NDArray[np.float32] = self.near[:2].mean(axis=0).max(axis=1, initial=0.0)
        return best

    def explained(self, relations: Sequence[int]) -> bool:
        """Return whether some relations (rows of `near`) explain what the question says.

        They do where its words come near enough to them on average; many words have to come nearer,
        since a long text has other things to say.
        """
        content = (self.grammar == 0) & ~self.mention
        if not content.any():
            return False
        near = float(self.near[0][list(relations)].max(axis=0)[content].mean())
        return near >= _NEAR + _NEARER * int(content.sum())


def read_question(
    encoder: Encoder,
    question: str,
    places: Sequence[tuple[int, int]],
    names: Sequence[str],
    others: Sequence[tuple[int, int]] = (),
) -> QuestionWords:
    """Compare the words of a question with a graph's relations.

    `places` are the first and last characters of the entity's mentions, `others` those of other
    entities, which are left out; `names` are the relations in words.
    """
    words: list[str] = []
    runs: list[int] = []
    for number, run in enumerate(spans(question)):
        for word, begin, end in run:
            if any(begin < b and a < end for a, b in places):
                if not words or words[-1]:
                    words.append("")
                    runs.append(number)
            elif not any(begin < b and a < end for a, b in others):
                bare = word.removesuffix("'s")
                words += [bare, "s"] if bare != word else [word]
                runs += [number] * (1 + (bare != word))
    words, runs = words[:_MOST_WORDS], runs[:_MOST_WORDS]
    phrases = [
        (first, after)
        for first, word in enumerate(words)
        if word and word not in _SKIPPED
        for after in range(first + 1, min(first + _LONGEST_SPAN, len(words)) + 1)
        if runs[after - 1] == runs[first] and all(words[first:after])
    ]
    vectors = embed(encoder, [" ".join(words[first:after]) for first, after in phrases])
    cosines = np.maximum(embed(encoder, names) @ vectors.T, 0.0)
    lead = cosines - cosines.mean(axis=0, keepdims=True)
    gap = cosines - cosines.max(axis=0, keepdims=True, initial=0.0)
    near = np.zeros((4, len(names), len(words)), np.float32)
    for column, (first, after) in enumerate(phrases):
        for at in range(first, after):
            if words[at] not in _SKIPPED:
                better = cosines[:, column] > near[0, :, at]
                for kind, values in enumerate((cosines, lead, gap)):
                    near[kind, better, at] = values[better, column]
        if after == first + 1:
            near[3, :, first] = cosines[:, column]
    here = [at for at, word in enumerate(words) if not word]
    place = [min((at - h for h in here), key=abs, default=at + 1) for at in range(len(words))]
    return QuestionWords(
        near=near,
        grammar=np.array([_GRAMMAR_PLACE.get(word, 0) for word in words], np.intp),
        place=np.array(place, np.float32),
        mention=np.array([not word for word in words], np.bool_),
    )
