"""The offline reader: a question and passages in, a span, yes, no or nothing out.

Extractive reading (Devlin et al. 2019, section 4.2) by the sentence encoder's own layers, trained
to read several passages side by side. Only the comparison of two values that the network has read
is done by code (`kgp_neo4j.text.values.compare`).
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib import resources
from itertools import islice, starmap
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.read.by_sentence import asks_for_an_account
from kgp_neo4j.corpus.read.choosing import Calibration, Choice, choose, span_choice
from kgp_neo4j.corpus.read.limits import decide
from kgp_neo4j.corpus.read.plain_rows import as_read, plain_rows
from kgp_neo4j.corpus.read.verifying import Layout, cells_of
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.models.reader import network as light
from kgp_neo4j.types.corpus import Passage, Reading, ReasoningPath, Span, SupportingSentence
from kgp_neo4j.types.errors import ModelError
from kgp_neo4j.types.tables import PROBABLE

#: First passages that are read; with those on the paths to them up to twice as many.
PASSAGES = 5
#: Tokens of a window at most, and windows that are read unless all passages' first parts need more.
WINDOW = 512
WINDOWS = 4
#: How much likelier, in log odds, what was read must be for another answer to be doubted. Of 63
#: probable answers to dev questions where a model (Qwen2.5-Coder-1.5B) said otherwise and passages
#: carried that, 32 were: 18 of the 25 that were right, and 2 of 15 where the model was.
_DOUBTED = 1.5
#: The reader that comes with the package.
SHIPPED = Path(str(resources.files("kgp_neo4j.models.reader")))
#: Sentences that are shown at most.
SENTENCES = 3


class OfflineReader:
    """An extractive reader (`load_reader`); a `judge` reads answers again, and may choose cells."""

    def __init__(
        self, network: light.Network, card: dict[str, Any], judge: light.Network | None = None
    ) -> None:
        self._network, self.card, self._judge = network, card, judge
        self._calibration = Calibration.of(card.get("calibration") or {})

    def read(
        self, question: str, passages: Sequence[Passage], paths: Sequence[ReasoningPath] = ()
    ) -> Reading:
        """Return the answer found in the passages, given best first; `paths` led to them.

        The first passages and those on the paths to them are read. Where they do not answer the
        question, by the reader and by the agent that found them, the kind is `none`.
        """
        selected = passages_to_read(passages, paths)
        choice = self.choose(question, selected)
        confidence = self._calibration.confidence(choice)
        judged = max((p.judged for p in paths if p.judged is not None), default=None)
        match = max((path.steps[-1].match for path in paths), default=0.0)
        # The best sentence of a passage is its last one from behind.
        worth = {selected[at].id: score for score, at, _, _ in reversed(choice.sentences)}
        if choice.kind == "none" or not self._calibration.is_answer(confidence, judged, match):
            nothing = 1 - confidence if choice.signals else 1.0  # nothing at all was read
            shown = _supporting(selected, choice.sentences)
            return Reading("", "none", nothing, sentences=shown, worth=worth)
        spans = tuple(starmap(Span, choice.spans))
        stated = confidence >= self._calibration.stated
        shown = _supporting(selected, choice.sentences, spans[:1], confidence >= PROBABLE)
        return Reading(choice.text, choice.kind, confidence, spans, stated, shown, worth)

    def choose(self, question: str, passages: Sequence[Passage]) -> Choice:
        """Return the chosen answer, whatever its confidence, with the inputs of that confidence."""
        if not passages or not question.strip():
            return Choice("none")
        read = self.candidates(question, passages)
        sure = self._calibration.confidence
        best = max(read, key=lambda one: (one.kind != "none", sure(one)))
        return decide(question, passages, read[0]) or replace(best, sentences=read[0].sentences)

    def candidates(self, question: str, passages: Sequence[Passage]) -> list[Choice]:
        """Return the answer read, and the cell that may answer; with a judge, their log odds."""
        choice = choose(question, passages, self._read(question, passages))
        if self._judge is None:
            return [choice]
        # A cell is neither yes or no nor a reason.
        apart = choice.kind in ("yes", "no") or asks_for_an_account(question)
        cells = [] if apart else cells_of(question, passages)
        read = cells if choice.kind == "none" else [choice, *cells]
        layout = Layout(self._judge.tokenizer, question, passages)
        odds = self._judge.judge([layout.of(each) for each in read])
        rated = [one.verified(score) for one, score in zip(read, odds, strict=True)]
        own, rest = (rated[:1], rated[1:]) if choice.kind != "none" else ([choice], rated)
        return own + sorted(rest, key=lambda one: -one.signals["verified"])[:1]

    def likeliest(
        self, question: str, passages: Sequence[Passage]
    ) -> tuple[list[tuple[str, float]], float]:
        """Return the likeliest spans with their probabilities, and that of nothing in any."""
        read, none = self._read(question, passages), light.KINDS.index("none")
        spans = [span for window, logits in read for span in light.spans_of(logits, window)]
        nothing = min(float(light.probabilities(logits.kinds)[none]) for _, logits in read)
        return [(span_choice(passages, span).text, span.score) for span in spans], nothing

    def doubts(
        self, question: str, passages: Sequence[Passage], paths: Sequence[ReasoningPath], said: str
    ) -> bool:
        """Return whether the judge finds what was read far likelier than `said`, at any place."""
        selected = passages_to_read(passages, paths)
        read = self.choose(question, selected)
        if self._judge is None or read.kind == "none":
            return False
        words = re.compile(re.escape(said), re.IGNORECASE)
        found = ((p.id, words.finditer(p.text)) for p in selected)
        spans: list[tuple[tuple[str, int, int], ...]] = []
        spans += (((id_, *one.span()),) for id_, all_ in found for one in islice(all_, 2))
        places = [read.spans[:1]] if said.casefold() in ("yes", "no") else spans or [()]
        rivals = [replace(read, text=said, spans=place) for place in places]
        layout = Layout(self._judge.tokenizer, question, selected)
        own, *odds = self._judge.judge([layout.of(each) for each in (read, *rivals)])
        return bool(own - max(odds) > _DOUBTED)

    def _read(
        self, question: str, passages: Sequence[Passage]
    ) -> list[tuple[light.Window, light.Logits]]:
        """Return the windows of the passages, with the network's logits for each."""
        network = self._network
        texts, places = zip(*(plain_rows(p.text, p.columns) for p in passages), strict=True)
        titled = [(p.heading, text) for p, text in zip(passages, texts, strict=True)]
        build = partial(light.windows_of, network.tokenizer, question, WINDOW)
        pieces = light.pieces_of(network.tokenizer, titled, places)
        # The first parts of all passages before the second part of any.
        order = [(at, part) for parts in pieces for at, part in enumerate(parts)]
        order.sort(key=lambda one: (one[0], one[1].passage))
        needed = len(build([part for at, part in order if at == 0]))
        windows = build([part for _, part in order])[: max(WINDOWS, needed)]
        return list(zip(windows, network.read(windows), strict=True))


@lru_cache(maxsize=2)
def load_reader(folder: str | None = None) -> OfflineReader:
    """Load the bundled reader, or that of a folder; raises ModelError where there is none."""
    place = expanded(folder) if folder else SHIPPED
    network, card = light.read_network(place)
    try:
        return OfflineReader(network, card, light.read_judge(place))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        fault = f"the reader's calibration cannot be used ({error})"
        hint = "Train it again with `kgp-neo4j train reader`."
        raise ModelError(fault, where=str(place), hint=hint) from error


def _supporting(
    passages: Sequence[Passage],
    ranked: Sequence[tuple[float, int, int, int]],
    first: Sequence[Span] = (),
    is_likely: bool = False,
) -> tuple[SupportingSentence, ...]:
    """Return the sentences to show: those with a span of `first`, then those ranked best.

    A heading has nothing to show but an answer that `is_likely`.
    """
    number = {passage.id: at for at, passage in enumerate(passages)}
    scores = {(at, start, end): score for score, at, start, end in ranked}
    shown: dict[tuple[int, int, int], float] = {}
    for span in first:
        at = number[span.passage]
        for start, end in sentences(passages[at].text):
            is_heading = passages[at].text.startswith("#", start)
            if start <= span.start < end and (is_likely or not is_heading):
                shown[at, start, end] = scores.get((at, start, end), 0.0)
    best = islice((shown | scores).items(), SENTENCES)
    told = [(passages[at], start, end, score) for (at, start, end), score in best]
    return tuple(
        SupportingSentence(as_read(p.text, a, b, p.columns), p.id, a, b, s) for p, a, b, s in told
    )


def passages_to_read(
    passages: Sequence[Passage], paths: Sequence[ReasoningPath] = ()
) -> list[Passage]:
    """Return the first passages, each after those on the path to it in the order of the path."""
    known = {passage.id: passage for passage in passages}
    led = {path.last: [step.passage for step in path.steps] for path in reversed(paths)}
    first = dict.fromkeys(passage.id for passage in passages[:PASSAGES])
    order = dict.fromkeys(step for passage in first for step in [*led.get(passage, ()), passage])
    between = [passage for passage in order if passage in known and passage not in first]
    selected = {*first, *between[: 2 * PASSAGES - len(first)]}
    return [known[passage] for passage in order if passage in selected]
