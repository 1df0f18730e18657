"""Questions that whole sentences answer: why and how, overviews, and those in other languages."""

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import regex
from numpy.typing import NDArray

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.traverse.algorithm import read_passages
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import Encoder, passage_text
from kgp_neo4j.text.words import content_words
from kgp_neo4j.types.corpus import (
    Answer,
    Passage,
    Reading,
    ReasoningPath,
    Retrieval,
    Span,
    Step,
    SupportingSentence,
)  # fmt: skip

#: "How many" and "how old" ask for a few words.
_ACCOUNT = regex.compile(
    r"(?i)^\W*(?:(?:and|so|but)\s+)?(?:why|explain|describe|for what reason|in what way|"
    r"what (?:happened|(?:is|was) the (?:reason|purpose|cause)\b)|"
    r"how\s+(?:do|does|did|is|are|was|were|can|could|will|would|has|have|had|come|to))"
    r"|,\s*(?:and\s+)?(?:why|how) d(?:oes|id|o)\b"
)
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
#: A run of one kind of script, so that a Korean ending parts from the English word before it.
_RUN = regex.compile(
    rf"(?P<unspaced>{_UNSPACED}+)|[[\p{{L}}\p{{N}}\p{{M}}]--{_UNSPACED}]+", regex.V1
)
#: Characters of a piece (McNamee and Mayfield 2004: four in European languages, two in Asian ones),
#: and pieces of a sentence at least.
_PIECE, _UNSPACED_PIECE, _SHORTEST = 4, 2, 2
#: How much less a sentence counts for each passage before its own.
_LATER = 0.1


def asks_for_an_account(question: str) -> bool:
    """Return whether a question asks why or how: a sentence answers it, and a few words do not."""
    return _ACCOUNT.search(question) is not None


def is_in_latin_script(text: str) -> bool:
    """Return whether most words of a text are Latin; "Bridge노드의" is two words."""
    latin = regex.findall(r"\p{Latin}+", text)
    others = regex.findall(r"[\p{L}--\p{Latin}]+", text, regex.V1)
    return len(latin) > len(others) or not others


def nearest_sentences(question: str, passages: Sequence[Passage]) -> tuple[SupportingSentence, ...]:
    """Return at most three sentences that have pieces of the question's words, the best first.

    The score, from 0 to 1, is the share of the question's pieces that a sentence has, each by its
    rarity among the sentences; pieces are runs of characters, so that other forms of a word count.
    """
    places = {
        (at, start, end): pieces
        for at, passage in enumerate(passages)
        for start, end in sentences(passage.text)
        if len(pieces := _pieces(passage.text[start:end])) >= _SHORTEST
        and not passage.text.startswith("#", start)
    }
    frequency = Counter(chain.from_iterable(map(set, places.values())))
    asked = set(_pieces(question))
    rarity = {piece: math.log(1 + len(places) / max(1, frequency[piece])) for piece in asked}
    shares = {place: sum(map(rarity.__getitem__, asked & {*has})) for place, has in places.items()}
    highest = max(sum(rarity.values()), 1e-9)
    scores = {place: share / highest / (1 + _LATER * place[0]) for place, share in shares.items()}
    ranked = sorted((-score, *place) for place, score in scores.items() if score)
    return tuple(
        SupportingSentence(passages[at].text[a:b].strip(), passages[at].id, a, b, -score)
        for score, at, a, b in ranked[:3]
    )


def _pieces(text: str) -> list[str]:
    """Return all runs of so many characters within the words of a text; short words are whole."""
    pieces = []
    for match in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        size = _UNSPACED_PIECE if match["unspaced"] else _PIECE
        word = match[0]
        pieces += [word[at : at + size] for at in range(max(1, len(word) - size + 1))]
    return pieces


_OVERVIEW = regex.compile(
    r"(?i)\b(?:gist|summar\w+|sum up|overview|in short|in brief|briefly|boil|nutshell|"
    r"(?:main|key) (?:points?|topics?|themes?|subjects?|ideas?))\b|"
    r"^what(?:'s| is| are)\b.*\babout\W*$|^what(?:'s| is| are) in (?:this|these|those|the|all)\b"
)
#: Words that stand for whatever is there: "these leaflets", "all of it".
_ALL = regex.compile(r"(?i)\b(?:this|these|those|here|everything|(?:of|is) it)\b(?:\s++\p{L}++)?")
#: The best passage's cosine below which a question names nothing, how many of the first passages
#: have to be one document's for it to be asked for, and passages that are shown at most.
_NAMES, _FIRST, _OWN, _SHOWN = 0.35, 10, 6, 10
#: Letters of a sentence at least, its characters at most, and the share of letters in these.
_LEAST, _LONGEST, _LETTERS = 20, 500, 0.9


def asks_for_an_overview(question: str) -> bool:
    """Return whether a question asks what documents are about, which they always tell."""
    return _OVERVIEW.search(question) is not None


def with_overview(
    database: Database, corpus: str, retrieval: Retrieval, encoder: Encoder
) -> Retrieval:
    """Return the retrieval with the `sentences` of an overview, and their passages first.

    They are of the document that most of the first passages are of, else of what was retrieved, or
    the first ones of all documents where the question names nothing.
    """
    asked, passages = retrieval.question.text, retrieval.passages
    match = max((path.steps[-1].match for path in retrieval.paths), default=0.0)
    (near,) = encoder.encode([asked])
    if match >= _NAMES and content_words(_OVERVIEW.sub("", _ALL.sub("", asked))):
        ((document, own),) = Counter(p.document for p in passages[:_FIRST]).most_common(1)
        chosen = [p for p in passages if own < _OWN or p.document == document][:_SHOWN]
    else:
        near *= 0
        rows = database.read("structure/overview", corpus=corpus, limit=_SHOWN)
        found = read_passages(database, [row["passage"] for row in rows])
        chosen = [found[row["passage"]] for row in rows if row["passage"] in found]
    vectors = encoder.encode_passages([(p.title, p.text) for p in chosen])
    told = [_telling(p, v + near, encoder) for p, v in zip(chosen, vectors, strict=True)]
    held = {passage.id: passage for passage in (*chosen, *passages)}
    paths = {id_: ReasoningPath((Step(id_, "seed", 0.0, reason="overview"),)) for id_ in held}
    paths |= {path.last: path for path in retrieval.paths}
    ranked, ways = tuple(held.values()), tuple(paths.values())
    return replace(retrieval, passages=ranked, paths=ways, sentences=tuple(told))


def _telling(passage: Passage, centre: NDArray[Any], encoder: Encoder) -> SupportingSentence:
    """Return the sentence of a passage that is nearest to the centre of what it stands for."""
    every = [(a, b, passage.text[a:b].strip()) for a, b in sentences(passage.text)]
    # Some have nothing but headings and tables, of which the former are shorter.
    every.sort(key=lambda one: len(one[2]))
    held = [one for one in every if _says_something(one[2])] or every[:1]
    near = encoder.encode([passage_text(passage.title, text) for *_, text in held]) @ centre
    a, b, text = held[near.argmax()]
    return SupportingSentence(text, passage.id, a, b, float(near.max()))


def _says_something(text: str) -> bool:
    """Return whether a text is a sentence of words, and neither a question nor a heading."""
    letters = sum(letter.isalpha() or letter.isspace() for letter in text)
    ends = text.startswith("#") or text[:1].islower() or text.endswith(("?", ":", "？", "："))
    return not ends and len(text) <= _LONGEST and letters > max(_LEAST, _LETTERS * len(text))


def overview(evidence: Answer) -> Answer:
    """Return the answer with its sentences' documents named, or the sections of a single one."""
    cited = {one.passage for one in evidence.sentences}
    of = [passage for passage in evidence.passages if passage.id in cited]
    names = dict.fromkeys(passage.name for passage in of)
    if len(names) == 1:
        names = dict.fromkeys(p.section.rpartition(" > ")[2] for p in of if p.section)
    text = "; ".join(names) or evidence.sentences[0].text
    spans = tuple(Span(one.passage, one.start, one.end) for one in evidence.sentences)
    reading = Reading(text, "overview", 0.0, spans, sentences=evidence.sentences)
    return replace(evidence, reading=reading, text=text)
