"""Which relation path does a question ask for? A small network that reads its words beside it.

For each relation path it sees, word by word, how near the word comes to each step of the path by
meaning, what other relation it may mean, which function words stand around and how far the entity
is. Names have no other way in, so that what was learned on one graph serves another. Needs numpy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.mindmap.explore.asked_end import stem_of, stems_of, trained
from kgp_neo4j.mindmap.link.name_forms import Place, spans
from kgp_neo4j.models.encoder import Encoder, embed
from kgp_neo4j.text.words import FUNCTION_WORDS

#: A relationship type, and whether it is walked along its direction.
Step = tuple[str, bool]

HOPS = 4
#: The words that a question is built with; all others count by their meaning alone.
_GRAMMAR = ("", *sorted(FUNCTION_WORDS | {"same", "share", "other", "one", "ones"}))
_GRAMMAR_PLACE = {word: at for at, word in enumerate(_GRAMMAR)}
#: Function words, but for those that ask for a person, a place or a time, mean no relation.
_SKIPPED = FUNCTION_WORDS - {"who", "where", "when"}
_LONGEST_SPAN = 3
_MOST_WORDS = 40
#: How near a question's words are on average to the relations asked for, and how much nearer with
#: each further word; chosen by questions over other graphs and letters to doctors, which ask none.
_NEAR = 0.36
_NEARER = 0.015
_SHORT = 2


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The words of a question as the path scorer reads them.

    `near` is (4, relations, words): the cosine of a relation's name and the best span with a word;
    how far that is above the mean of all relations, and below the best of them; and the cosine of
    the word alone. `grammar` are the numbers of the words in _GRAMMAR (0 for any other), `place`
    their places from the entity (negative before it), `mention` which of them is the entity,
    `same` whether a relation has the stem of a word: (relations, words).
    """

    near: NDArray[np.float32]
    grammar: NDArray[np.intp]
    place: NDArray[np.float32]
    mention: NDArray[np.bool_]
    same: NDArray[np.bool_]

    def weights(self) -> NDArray[np.float32]:
        """Return a weight for each relation: how near the question comes to its name."""
        return np.asarray(self.near[:2].mean(axis=0).max(axis=1, initial=0.0))

    @property
    def is_short(self) -> bool:
        """Return whether the question is so short that all it says may mean one relation."""
        content = (self.grammar == 0) & ~self.mention
        return 0 < int(content.sum()) <= _SHORT

    def explained(self, relations: Sequence[int]) -> bool:
        """Return whether some relations (rows of `near`) explain what the question says.

        They do where its words come near enough to them on average; many words have to come nearer,
        since a long text has other things to say.
        """
        content = (self.grammar == 0) & ~self.mention
        if not content.any():
            return False
        rows = list(relations)
        near = float(np.maximum(self.near[0], self.same)[rows].max(axis=0)[content].mean())
        return near >= _NEAR + _NEARER * int(content.sum())


def read_question(
    encoder: Encoder, question: str, mention: Place, names: Sequence[str], others: Sequence[Place]
) -> QuestionWords:
    """Compare the words of a question with a graph's relations.

    `mention` is where the entity stands, `others` is what is left out, `names` are the relations'.
    """
    words: list[str] = []
    runs: list[int] = []
    for number, run in enumerate(spans(question)):
        for word, begin, end in run:
            if begin < mention[1] and mention[0] < end:
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
    grammar = np.array([_GRAMMAR_PLACE.get(word, 0) for word in words], np.intp)
    here = [at for at, word in enumerate(words) if not word]
    place = [min((at - h for h in here), key=abs, default=at + 1) for at in range(len(words))]
    is_here = np.array([not word for word in words], np.bool_)
    stems = ["" if word in FUNCTION_WORDS else stem_of(word) for word in words]
    same = np.array([[stem in own for stem in stems] for own in map(stems_of, names)], np.bool_)
    return QuestionWords(near, grammar, np.array(place, np.float32), is_here, same)


def _path_forms(paths: Sequence[Sequence[Step]]) -> NDArray[np.float32]:
    """Return the form of each path, (paths, 10): its length, directions, and how it turns back.

    The last two are steps straight back, and those against a relation that leads forward as well.
    """
    known = {tuple(path) for path in paths}
    rows = np.zeros((len(paths), 2 * HOPS + 2), np.float32)
    for row, path in zip(rows, paths, strict=True):
        row[len(path) - 1] = 1.0
        for at, (relation, forward) in enumerate(path):
            row[HOPS + at] = 1.0 if forward else -1.0
            if at and path[at - 1] == (relation, not forward):
                row[-2] += 1
            if not forward and (*path[:at], (relation, True)) in known:
                row[-1] += 1
    return rows


def _word_features(
    words: QuestionWords, paths: Sequence[Sequence[Step]], place: Mapping[str, int]
) -> NDArray[np.float32]:
    """Return each word beside each path, (paths, words, 21): the four kinds of nearness to each of
    the four steps, the best relation's, and where the word stands. `place` is the row of a relation
    in `words.near`.
    """
    nothing = words.near.shape[1]
    near = np.concatenate([words.near, np.zeros_like(words.near[:, :1])], axis=1)
    steps = np.full((len(paths), HOPS), nothing)
    for row, path in zip(steps, paths, strict=True):
        row[: len(path)] = [place[relation] for relation, _ in path]
    count, size = len(paths), len(words.place)
    beside = near[:, steps].transpose(1, 3, 0, 2).reshape(count, size, 4 * HOPS)
    best = words.near[:2].max(axis=1).T
    where = np.stack([words.place / 8, np.abs(words.place) / 8, words.mention], axis=1)
    same = np.concatenate([best, where], axis=1).astype(np.float32)
    return np.concatenate([beside, np.broadcast_to(same, (count, *same.shape))], axis=2)


def path_scores(
    words: QuestionWords, paths: Sequence[Sequence[Step]], place: Mapping[str, int]
) -> NDArray[np.float32]:
    """Return a score for each path: their softmax is the probability that it is meant."""
    w = trained("path_scorer")
    forms = _path_forms(paths)
    size = len(words.place)
    beside = _word_features(words, paths, place)
    grammar = w["grammar"][words.grammar]
    split = np.cumsum([beside.shape[2], grammar.shape[1]])
    near, spoken, whole = np.split(w["input.weight"].T, split)
    hidden = beside @ near + (grammar @ spoken)[None] + (forms @ whole)[:, None]
    hidden = np.maximum(hidden + w["input.bias"], 0.0)
    for layer in ("first", "second"):
        kernel = w[f"{layer}.weight"]  # (out, in, width)
        reach = kernel.shape[2] // 2
        padded = np.pad(hidden, ((0, 0), (reach, reach), (0, 0)))
        places = range(kernel.shape[2])
        convolved = sum(padded[:, at : at + size] @ kernel[:, :, at].T for at in places)
        hidden = hidden + np.maximum(convolved + w[f"{layer}.bias"], 0.0)
    here = words.mention.astype(np.float32)
    entity = (hidden * here[:, None]).sum(axis=1) / max(here.sum(), 1.0)
    read = np.concatenate([hidden.mean(axis=1), hidden.max(axis=1), entity, forms], axis=1)
    last = np.maximum(read @ w["middle.weight"].T + w["middle.bias"], 0.0)
    scores = (last @ w["output.weight"].T + w["output.bias"]).reshape(len(paths))
    # The temperature makes them hold on questions that the network was not trained on.
    return np.asarray(scores / float(w["temperature"][0]), dtype=np.float32)
