"""Is a relation path the one that a question asks for? A network reads both side by side.

The question names its entity "x" and others "y"; a path is a statement in the relations' own words,
in which "[MASK]" stands for what is asked: "who reports to x" beside "[MASK] reports to x". So the
network sees which end is asked for, and no name of the graph's entities.
"""

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load
from tokenizers import Tokenizer

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.models.engine import CompiledNetwork, Feed, read_tokenizer
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER, encoder_files
from kgp_neo4j.models.reader.network import with_weights

#: A relationship type, and whether it is walked along its direction.
Step = tuple[str, bool]

WEIGHTS_FILE = Path(__file__).with_name("path_judge.safetensors")
#: Word pieces of a question that are read.
_LONGEST = 48
_BATCH, _STEP = 8, 8
_ASKED, _BETWEEN = "[MASK]", "pqr"


def masked(
    question: str, mention: tuple[int, int], others: Sequence[tuple[int, int]] = ()
) -> str:
    """Return a question with "x" for its entity, at the places `mention`, and "y" for others."""
    for begin, end in sorted({mention, *others}, reverse=True):
        name = "x" if (begin, end) == mention else "y"
        question = question[:begin] + name + question[end:]
    return question


def statement(path: Sequence[Step]) -> str:
    """Return a path in words: "x reports to p; p reports to [MASK]"."""
    said, here = [], "x"
    for at, (relation, forward) in enumerate(path):
        there = _ASKED if at == len(path) - 1 else _BETWEEN[at]
        ends = (here, there) if forward else (there, here)
        said.append(f"{ends[0]} {readable(relation)} {ends[1]}")
        here = there
    return "; ".join(said)


def lay_out(
    tokenizer: Tokenizer, question: str, said: Sequence[str]
) -> list[tuple[list[int], list[int]]]:
    """Return word pieces and their types for a question beside each statement."""
    asked = tokenizer.encode(question)
    asked.truncate(_LONGEST)
    made = []
    for text in said:
        stated = tokenizer.encode(text).ids[1:]
        made.append((asked.ids + stated, [0] * len(asked.ids) + [1] * len(stated)))
    return made


class PathJudge:
    """The network, its tokenizer, and what makes probabilities of its log odds."""

    def __init__(self, weights: bytes) -> None:
        change = partial(with_weights, heads=("right",))
        file, words = encoder_files(DEFAULT_ENCODER, "path-judge", weights, change)
        self._network = CompiledNetwork(file)
        self._tokenizer = read_tokenizer(words)
        self._scale, self._shift = load(weights)["odds"].tolist()

    def judge(self, question: str, paths: Sequence[Sequence[Step]]) -> NDArray[np.float64]:
        """Return how likely a question, from `masked`, asks for each of the paths: (paths)."""
        laid = lay_out(self._tokenizer, question, [statement(path) for path in paths])
        order = sorted(range(len(laid)), key=lambda at: len(laid[at][0]))
        parts = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
        made = self._network.run(
            [_feed([laid[at] for at in part]) for part in parts],
            lambda _, outputs: outputs[0][:, 0].copy(),
        )
        odds = np.empty(len(laid))
        odds[order] = np.concatenate(made)
        return np.asarray(1 / (1 + np.exp(-(self._scale * odds + self._shift))))


def _feed(laid: Sequence[tuple[list[int], list[int]]]) -> Feed:
    size = -(-max(len(ids) for ids, _ in laid) // _STEP) * _STEP
    values = np.zeros((3, len(laid), size), dtype=np.int64)
    for at, (ids, types) in enumerate(laid):
        values[:, at, : len(ids)] = ids, types, [1] * len(ids)
    return dict(zip(("input_ids", "token_type_ids", "attention_mask"), values, strict=True))


@cache
def load_judge() -> PathJudge:
    """Return the judge that is shipped."""
    return PathJudge(WEIGHTS_FILE.read_bytes())
