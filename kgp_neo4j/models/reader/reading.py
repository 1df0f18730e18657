"""The offline reader: a question and passages in, a span, yes, no or nothing out.

Extractive reading (Devlin et al. 2019, section 4.2) by the sentence encoder's own layers, with the
upper ones trained for it; comparisons of two things are worked out from what the passages say of
each (`comparing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from kgp_neo4j.errors import ModelError
from kgp_neo4j.models.encoder import quick_products
from kgp_neo4j.models.reader.batching import padded
from kgp_neo4j.models.reader.calibration import Calibration
from kgp_neo4j.models.reader.choosing import Choice, choose, settled
from kgp_neo4j.models.reader.hops import hop_of
from kgp_neo4j.models.reader.network import Network, read_network
from kgp_neo4j.models.reader.spans import Candidate, candidates_of
from kgp_neo4j.models.reader.windows import Windows, pieces_of
from kgp_neo4j.readings import Reading, Span
from kgp_neo4j.records import Passage, ReasoningPath

__all__ = ["Found", "Reader", "load_reader"]

#: So many passages are read, the best and those on the path to them, in windows of so many pieces.
PASSAGES = 5
WINDOW = 384
WINDOWS = 3
#: So many passages are looked through for the things that a question names.
KNOWN = 10


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a question's passages, before the answer is chosen.

    `question` is what was read for: the question itself, or what is left of it after its first
    step. `settled` is an answer that needed no reading; else `spans` are the network's candidates,
    and `kinds` the four probabilities of each window, in the order of `network.KINDS`.
    """

    question: str
    passages: tuple[Passage, ...]
    hop: bool = False
    settled: Choice | None = None
    spans: tuple[Candidate, ...] = ()
    kinds: tuple[tuple[float, ...], ...] = ()


class Reader:
    """An extractive reader with its calibration; make one by `load_reader`."""

    def __init__(self, network: Network, card: dict[str, Any]) -> None:
        self._network = network
        self.card = card
        self._calibration = Calibration.of(card.get("calibration") or {})

    def read(
        self,
        question: str,
        passages: Sequence[Passage],
        paths: Sequence[ReasoningPath] = (),
    ) -> Reading:
        """Return what the passages answer, best first as they are; `paths` say how they were found.

        The first passages and those on the paths to them are read. Where nothing in them answers
        the question, the kind is `none`. The same question and passages bring the same reading.
        """
        return self.decide(self.find(question, passages, paths))

    def find(
        self,
        question: str,
        passages: Sequence[Passage],
        paths: Sequence[ReasoningPath] = (),
    ) -> Found:
        """Return what the passages tell at once, else the network's candidates."""
        kept = _chosen(passages, paths)
        if not kept or not question.strip():
            return Found(question, tuple(kept))
        known = list({p.id: p for p in (*kept, *passages[:KNOWN])}.values())
        hop = hop_of(question, known)
        if (choice := settled(question, known, hop)) is not None:
            return Found(question, tuple(known), hop is not None, choice)
        if hop is not None:
            question, kept = hop.question, [hop.passage]
        spans, kinds = self._read(question, kept)
        return Found(question, tuple(kept), hop is not None, None, tuple(spans), tuple(kinds))

    def decide(self, found: Found) -> Reading:
        """Return the reading of what was found."""
        choice = self.choose(found)
        confidence = self._calibration.confidence(choice)
        if choice.kind == "none" or confidence < self._calibration.threshold:
            return Reading("", "none", self._calibration.nothing(choice))
        return Reading(choice.text, choice.kind, confidence, _spans(choice))

    @staticmethod
    def choose(found: Found) -> Choice:
        """Return the answer chosen, however sure it is, with what its confidence is judged by."""
        if found.settled is not None:
            return found.settled
        choice = choose(found.question, found.passages, found.spans, found.kinds)
        return replace(choice, signals={**choice.signals, "hop": 1.0}) if found.hop else choice

    def _read(
        self, question: str, passages: Sequence[Passage]
    ) -> tuple[list[Candidate], list[tuple[float, ...]]]:
        """Return the network's candidates, and what each window is said to hold."""
        import torch

        network = self._network
        pieces = pieces_of(network.tokenizer, [(p.title, p.text) for p in passages])
        # The first parts of all passages before the second part of any.
        order = sorted((at, part.passage) for parts in pieces for at, part in enumerate(parts))
        windows = Windows(network.tokenizer, question, min(WINDOW, network.longest)).build(
            [pieces[passage][at] for at, passage in order]
        )[:WINDOWS]
        spans: list[Candidate] = []
        kinds: list[tuple[float, ...]] = []
        with torch.inference_mode(), quick_products(network.body):
            # One by one: without padding, two windows take as long as one batch of two.
            for window in windows:
                parts = padded([window], network.tokenizer.pad_token_id or 0)
                logits, said = network(*(part.to(network.device) for part in parts))
                spans += candidates_of(logits[0].cpu().numpy(), window)
                kinds.append(tuple(torch.softmax(said[0], dim=-1).tolist()))
        return spans, kinds


@lru_cache(maxsize=2)
def load_reader(folder: str | None = None) -> Reader:
    """Load the reader that comes with the package, or one that `kgp-neo4j train reader` made.

    Raises ModelError where the folder holds none.
    """
    shipped = Path(str(resources.files("kgp_neo4j.models.reader")))
    place = Path(folder).expanduser() if folder else shipped
    network, card = read_network(place)
    try:
        return Reader(network, card)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelError(
            f"the reader's calibration cannot be used ({error})",
            where=str(place),
            hint="Train it again with `kgp-neo4j train reader`.",
        ) from error


def _chosen(passages: Sequence[Passage], paths: Sequence[ReasoningPath]) -> list[Passage]:
    """Return the first passages, each followed by what stands on the path to it."""
    known = {passage.id: passage for passage in passages}
    kept: dict[str, Passage] = {}
    before = {path.last: path for path in reversed(paths)}
    for passage in passages[:PASSAGES]:
        kept.setdefault(passage.id, passage)
        path = before.get(passage.id)
        for step in path.steps if path else ():
            if step.passage in known and len(kept) < 2 * PASSAGES:
                kept.setdefault(step.passage, known[step.passage])
    return list(kept.values())


def _spans(choice: Choice) -> tuple[Span, ...]:
    return tuple(Span(passage, start, end) for passage, start, end in choice.spans)
