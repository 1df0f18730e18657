"""The offline reader: a question and passages in, a span, yes, no or nothing out.

Extractive reading (Devlin et al. 2019, section 4.2) by the sentence encoder's own layers, trained
to read several passages side by side. Only the comparison of two values that the network has read
is done by code (`kgp_neo4j.text.values.compare`).
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib import resources
from itertools import chain, islice, pairwise, starmap, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tokenizers import Tokenizer

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.read.by_sentence import asks_for_an_account
from kgp_neo4j.corpus.read.choosing import Calibration, Choice, choose, span_choice
from kgp_neo4j.corpus.read.parts import decide
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.models.encoder import Encoder, nearness
from kgp_neo4j.models.engine import token_id
from kgp_neo4j.models.reader import network as light
from kgp_neo4j.models.reader.network import encoded
from kgp_neo4j.text.words import content_words, stem
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
#: Sentences that are shown at most, and what a cosine counts for beside their support.
SENTENCES, _NEARNESS = 3, 14.0


class OfflineReader:
    """An extractive reader (`load_reader`); a `judge` reads answers again, and may choose cells."""

    def __init__(
        self, network: light.Network, card: dict[str, Any], judge: light.Network | None = None
    ) -> None:
        self._network, self.card, self._judge = network, card, judge
        self._calibration = Calibration.of(card.get("calibration") or {})

    def read(
        self,
        question: str,
        passages: Sequence[Passage],
        paths: Sequence[ReasoningPath] = (),
        encoder: Encoder | None = None,
    ) -> Reading:
        """Return the answer found in the passages, given best first; `paths` led to them.

        The first passages and those on the paths to them are read. Where they do not answer the
        question, by the reader and by the agent that found them, the kind is `none`. An `encoder`
        brings the sentences forward whose vectors are near the question's.
        """
        selected = passages_to_read(passages, paths)
        choice = self.choose(question, selected)
        confidence = self._calibration.confidence(choice)
        judged = max((p.judged for p in paths if p.judged is not None), default=None)
        match = max((path.steps[-1].match for path in paths), default=0.0)
        # The best sentence of a passage is its last one from behind.
        worth = {selected[at].id: score for score, at, _, _ in reversed(choice.sentences)}
        found = choice.kind != "none" and self._calibration.is_answer(confidence, judged, match)
        stated = found and confidence >= self._calibration.stated
        ranked: Sequence[tuple[float, int, int, int]] = choice.sentences
        if encoder is not None and not (found and confidence >= PROBABLE):
            said = [(selected[at].heading, selected[at].text[a:b]) for _, at, a, b in ranked]
            prior = np.array([support for support, *_ in ranked]) / _NEARNESS
            near = (nearness(encoder, question, said, prior) + prior).tolist()
            moved = ((_NEARNESS * n, *old[1:]) for n, old in zip(near, ranked, strict=True))
            ranked = sorted(moved, key=lambda one: -one[0])
        if not found:
            nothing = 1 - confidence if choice.signals else 1.0  # nothing at all was read
            shown = _supporting(selected, ranked)
            return Reading("", "none", nothing, sentences=shown, worth=worth)
        spans = tuple(starmap(Span, choice.spans))
        shown = _supporting(selected, ranked, spans[:1], confidence >= PROBABLE)
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
    told: dict[str, SupportingSentence] = {}
    for (at, start, end), score in (shown | scores).items():
        passage = passages[at]
        text = as_read(passage.text, start, end, passage.columns)
        # Passages may share a sentence.
        told.setdefault(text, SupportingSentence(text, passage.id, start, end, score))
        if len(told) == SENTENCES:
            break
    return tuple(told.values())


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


#: Tokens at most: of question, answer, a title, the part around an answer, another sentence, a
#: cell, all of one input, and of one with a row.
_QUESTION, _ANSWER, _TITLE, _AROUND, _SENTENCE, _CELL = 64, 24, 20, 128, 72, 40
_LONGEST, _ROW = 320, 200
#: Characters on each side of an answer that are enough for its part, and sentences at most.
_NEAR, _SENTENCES = 1_500, 4
#: What marks the answer: tokens that the encoder's words leave free.
_OPEN, _CLOSE = "[unused1]", "[unused2]"
#: Rows whose cells are judged, and cells of each, at most.
_ROWS, _CELLS = 3, 8


class Layout:
    """Arrange chosen answers to one question as inputs of the network."""

    def __init__(self, tokenizer: Tokenizer, question: str, passages: Sequence[Passage]) -> None:
        self._tokenizer = tokenizer
        self._passages = {passage.id: passage for passage in passages}
        self._order = [passage.id for passage in passages]
        first, self._end = tokenizer.encode("").ids
        self._open, self._close = (token_id(tokenizer, mark) or 0 for mark in (_OPEN, _CLOSE))
        self._asked = [first, *self._ids(question, _QUESTION), self._end]

    def of(self, choice: Choice) -> tuple[list[int], list[int]]:
        """Return the tokens and types of an answer: question and answer, then what it stands in."""
        begin = [*self._asked, *self._ids(choice.text, _ANSWER), self._end]
        body = self._row(*choice.spans[0]) if choice.spans else []
        if not body:
            seen: dict[str, tuple[int, int]] = {}
            for id_, start, end in choice.spans[:2]:
                part, seen[id_] = self._around(id_, start, end)
                body += part
            body += self._others(choice, seen, _LONGEST - len(begin) - len(body))
        ids = [*begin, *body][:_LONGEST]
        return ids, [int(at >= len(begin)) for at in range(len(ids))]

    def _ids(self, text: str, most: int) -> list[int]:
        return list(encoded(self._tokenizer, [_with_ends(text)])[0].ids[:most])

    def _title(self, passage: Passage) -> list[int]:
        return self._ids(f"{passage.heading}:", _TITLE) if passage.heading else []

    def _around(self, id_: str, start: int, end: int) -> tuple[list[int], tuple[int, int]]:
        """Return the marked answer with the text around it, and that text's place."""
        passage = self._passages[id_]
        off = max(0, start - _NEAR)
        (near,) = encoded(self._tokenizer, [_with_ends(passage.text[off : end + _NEAR])])
        ids, places = near.ids, [(a + off, b + off) for a, b in near.offsets]
        first = next((at for at, (_, b) in enumerate(places) if b > start), len(ids))
        last = max((at for at, (a, _) in enumerate(places) if a < end), default=first)
        low = max(0, first - (_AROUND - (last - first + 1)) // 2)
        high = min(len(ids), low + _AROUND)
        low = max(0, high - _AROUND)
        marked = [self._open, *ids[first : last + 1], self._close]
        part = [*ids[low:first], *marked, *ids[last + 1 : high]]
        place = (places[low][0], places[high - 1][1]) if high > low else (0, 0)
        return [*self._title(passage), *part, self._end], place

    def _others(self, choice: Choice, seen: dict[str, tuple[int, int]], room: int) -> Iterator[int]:
        """Yield the tokens of the sentences that say most, but for those shown already."""
        count = 0
        for _, at, start, end in choice.sentences:
            passage = self._passages[self._order[at]]
            low, high = seen.get(passage.id, (0, 0))
            if count == _SENTENCES or room <= _TITLE or (start < high and end > low):
                continue
            ids = [*self._title(passage), *self._ids(passage.text[start:end], _SENTENCE)]
            ids = [*ids[: room - 1], self._end]
            room -= len(ids)
            count += 1
            yield from ids

    def _row(self, id_: str, start: int, end: int) -> list[int]:
        """Return the row of a table that an answer stands in, its cell marked; none in prose."""
        passage = self._passages[id_]
        if not passage.text.startswith("|", passage.text.rfind("\n", 0, start) + 1):
            return []
        held = (
            (row, at)
            for row in rows_of(passage.text, passage.columns)
            for at, (a, b) in enumerate(row.cells)
            if a <= start and end <= b
        )
        row, own = next(held, (None, 0))
        if row is None:
            return []
        before = [*self._title(passage), *self._ids(f"{row.section};" if row.section else "", 20)]
        stop = self._ids(";", 1)
        parts: dict[int, list[int]] = {}
        for at, (start, end) in enumerate(row.cells):
            name = row.names[at] if at < len(row.names) else ""
            cell = self._ids(passage.text[start:end], _CELL)
            if at == own:
                cell = [self._open, *cell, self._close]
            if cell:
                parts[at] = [*self._ids(f"{name}:" if name else "", 12), *cell, *stop]
        room = _ROW - len(before) - len(parts[own])
        for at in sorted(parts.keys() - {own}):
            room -= len(parts[at])
            if room < 0:
                room += len(parts.pop(at))
        return [*before, *chain.from_iterable(parts.values()), self._end]


def _with_ends(text: str) -> str:
    """Return a text of the same length in which a line of a form ends like a sentence."""
    if "\n" not in text:
        return text
    begins = {start for start, _ in sentences(text)}
    return re.sub(r"(?<=\w)\n", lambda end: "." if end.end() in begins else "\n", text)


def cells_of(question: str, passages: Sequence[Passage]) -> list[Choice]:
    """Return the cells that may answer, of the rows that share the rarest words with a question."""
    asked = set(map(stem, content_words(question)))
    rows: list[tuple[Passage, TableRow, set[str]]] = []
    for passage, row in ((p, row) for p in passages for row in rows_of(p.text, p.columns)):
        text = " ".join(passage.text[a:b] for a, b in row.cells)
        named = set(map(stem, content_words(f"{row.section} {' '.join(row.names)}")))
        own = asked.intersection(map(stem, content_words(text)))
        # The names of columns tell tables apart, not rows.
        rows.append((passage, row, own | (named & asked) if own else set()))
    frequency = Counter(word for _, _, shared in rows for word in shared)

    def rarity(row: tuple[Passage, TableRow, set[str]]) -> float:
        return sum(math.log(1 + len(rows) / frequency[word]) for word in row[2])

    found = []
    for passage, row, shared in sorted(rows, key=rarity, reverse=True)[:_ROWS]:
        for start, end in row.cells[:_CELLS] if shared else ():
            text = passage.text[start:end]
            words = set(map(stem, content_words(text)))
            if text and not (words and words <= asked):
                found.append(Choice("span", text, ((passage.id, start, end),)))
    return found


_RULE = re.compile(r"\s*+\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+\|?\s*+")
#: Columns of a table whose rows are read with names; with more, the names hide the values.
_WIDE = 6
#: A cell of a row of Markdown, behind its bar; a bar after a backslash stands within one.
_CELL_TEXT = re.compile(r"\|(?!\Z)\s*+((?:[^|\\\n]|\\.)*)")


def plain_rows(text: str, columns: Sequence[str] = ()) -> tuple[str, list[int] | None]:
    """Return the text as it is read, and for each character its place in `text`, -1 for none.

    `columns` are the names of the columns of the table that the text begins within. The places are
    None where nothing was changed.
    """
    if "\n" not in text and not text.startswith("|"):
        return text, None
    lines = [(match.start(), match.group()) for match in re.finditer(r"[^\n]*\n?", text)]
    begins = {start for start, _ in sentences(text)}
    parts: list[str] = []
    places: list[int] = []
    names = list(columns)

    def put(text_part: str, at: int = -1) -> None:
        parts.append(text_part)
        places.extend(range(at, at + len(text_part)) if at >= 0 else [-1] * len(text_part))

    for (at, line), (_, following) in pairwise([*lines, (0, "")]):
        if line.startswith("|") and len(_cells(line)) > _WIDE:
            for part in re.split(r"([|\n])", line):
                put(part, -1 if part in ("|", "\n") else at)
                at += len(part)
        elif not line.startswith("|"):
            names = []
            shown = line.rstrip()
            put(shown, at)
            if len(shown) < len(line):
                ended = at + len(line) in begins and shown[-1:].isalnum()
                put("." if ended else "\n")
        elif _is_rule(line):
            continue
        elif _is_rule(following):
            names = [line[start:end] for start, end in _cells(line)]
        else:
            cells = _cells(line)
            for column, (start, end) in enumerate(cells):
                name = names[column] if column < len(names) else ""
                put(f"{name}: " if name else "")
                put(line[start:end], at + start)
                put("; " if column < len(cells) - 1 else ".\n")
    return "".join(parts), places


class TableRow(NamedTuple):
    """A row of Markdown: its columns' names, its cells' places, and the row above that heads it."""

    names: Sequence[str]
    cells: list[tuple[int, int]]
    section: str


def rows_of(text: str, columns: Sequence[str] = ()) -> Iterator[TableRow]:
    """Yield the data rows of the tables in a text; `columns` are those that it begins within."""
    names, section = list(columns), ""
    lines = [(match.start(), match.group()) for match in re.finditer(r"[^\n]+\n?", text)]
    for (at, line), (_, following) in pairwise([*lines, (0, "")]):
        if not line.startswith("|"):
            names, section = [], ""
        elif _is_rule(following):
            names, section = [line[start:end] for start, end in _cells(line)], ""
        elif not _is_rule(line):
            cells = [(at + start, at + end) for start, end in _cells(line)]
            filled = {text[start:end] for start, end in cells} - {""}
            if len(cells) > 1 and len(filled) == 1:
                section = filled.pop()
            else:
                yield TableRow(names, cells, section)


def as_read(text: str, start: int, end: int, columns: Sequence[str] = ()) -> str:
    """Return a sentence of a text; a row of a table with the names of its columns."""
    if text.startswith("|", start):
        for row in rows_of(text, columns):
            if row.cells and start <= row.cells[0][0] < end:
                named = zip_longest(row.names[: len(row.cells)], row.cells, fillvalue="")
                held = [(name, text[slice(*cell)]) for name, cell in named]
                shown = [f"{name}: {cell}" if name else cell for name, cell in held if cell]
                return "; ".join([row.section] * bool(row.section) + shown)
    return text[start:end].strip()


def _is_rule(line: str) -> bool:
    return line.startswith("|") and bool(_RULE.fullmatch(line))


def _cells(line: str) -> list[tuple[int, int]]:
    """Return the places of the texts in a row's cells."""
    cells = _CELL_TEXT.finditer(line.rstrip())
    return [(cell.start(1), cell.start(1) + len(cell[1].rstrip())) for cell in cells]
