"""Takes a model's reply apart, and checks each claim against the passages that it cites."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain, combinations, islice, pairwise
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.llm.chat import without_reasoning
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.text.safe import cut, neutral
from kgp_neo4j.text.values import NUMBERS, ORDINALS
from kgp_neo4j.text.words import STOP_WORDS, content_words, is_in_another, stem, words
from kgp_neo4j.types.corpus import Passage, Statement

#: Characters of a reply that are read, and most sentences.
_MOST_CHARACTERS, _MOST_CLAIMS = 20_000, 40
#: Most words of a short answer.
_SHORT_WORDS = 6
#: "[1]", "[1, 2]", "[1-3]", "【1†source】", "[Passage 1, line 2]", "[^1]", and several in a row.
_WITHIN = r"(?:\s?:|,?\s?\b(?:lines?|pp?|sentences?)\b\.?)\s?\d{1,4}"
#: A source's name; a comma before a number ends it.
_NAMED = r"†[^\]】］\n,;]{0,40}+(?:[,;](?!\s*+-?\d)[^\]】］\n,;]{0,40}+){0,2}+"
_ITEM = (
    r"(?:(?:passages?|sources?|documents?|docs?|refs?|ids?|nos?|段落|来源|文档)[.:]?|#|\^)?\s*+"
    rf"-?\d{{1,9}}(?:{_NAMED}|{_WITHIN})?"
)
_CITATION = regex.compile(
    rf"[\[【［〔⟦]\s*+({_ITEM}(?:\s*+(?:,|;|、|，|&|-|–|—|\.\.|and|to)\s*+{_ITEM}){{0,40}})\s*+[\]】］〕⟧]",
    regex.IGNORECASE,
)
#: "[[1]]" and "[[1], [2]]".
_DOUBLE = regex.compile(r"\[\s?((?:\[[^\[\]\n]{1,60}\][\s,;]{0,3}){1,20})\]")
#: What citations leave of "(Passage [1])" and "([1], [2])", and of "Passage [1]" alone.
_LEFT = regex.compile(r"\s?\((?:passages?)? [ ,]*\)|^passages?$", regex.IGNORECASE)
_AFTER_STOP = regex.compile(
    r"(?i)(?<![.!?…。！？])([.!?…。！？]++[\"'”’»)]*+)((?:\s*+" + _CITATION.pattern + r")+)"
)
#: Where a sentence begins right after the stop of another one.
_GLUED = regex.compile(r"(?<=[\p{Ll}\d\])][.!?])(?=\p{Lu}\p{Ll})")
_RANGE = regex.compile(r"(\d{1,4})\s*(?:-|–|—|\.\.|to)\s*\D{0,10}(\d{1,4})", regex.IGNORECASE)
_NUMBER = regex.compile(r"-?\d+")
_LABEL = regex.compile(
    r"(?i)^[\s>*_#-]*+(?:\d[.)]\s*)?(?:\*\*|__)?(?:(?P<answer>(?:final\s+|short\s+)?answer|答案|回答)"
    r"|(?P<because>because|reasons?|reasoning|explanation|evidence|why))"
    r"(?:\*\*|__)?\s*(?:[:：]|[-–—]\s|$)(?:\*\*|__)?\s*"
)
#: The second of the two lines, where it stands on the first.
_SECOND = regex.compile(r"(?im)(?<=\S)(?<!^\s?\d[.)])\s(?=(?:\*\*)?because(?:\*\*)?\s?[:：])")
_SO = regex.compile(
    r"(?i)^(?:(?:so|thus|therefore|hence)[,\s]+)?(?:the\s+)?(?:final\s+)?"
    r"answer\s++is\s*+:?\s*+(.+)$"
)
_ABSTAINS = regex.compile(
    r"(?i)^\W*(?:answer\s*[:：]\s*)?(?:(?:unfortunately|based on (?:the|these) [\w ]{1,30}),\s*)?"
    r"(?:(?:the answer|this|it) is\s+)?"
    r"(?:not (?:in|stated in|found in|given in) the (?:evidence|passages?|documents?|context|text)"
    r"|not (?:stated|known|given)|unknown|no answer|unanswerable|n/a|i do(?: not|n['’]t) know"
    r"|(?:it )?cannot be (?:determined|answered|inferred)\b[^\n.!?]{0,200}"
    r"|there is (?:no|not enough) (?:information|evidence)\b[^\n.!?]{0,200}"
    r"|(?:the|these) passages? (?:do|does) not "
    r"(?:hold|contain|state|say|mention|provide|specify|give|tell)\b[^\n.!?]{0,200})\W*$"
)
_REFUSES = regex.compile(
    r"(?i)^\W*(?:(?:i['’]?m|i am) (?:very |so )?sorry\b|sorry,|i apologi[sz]e\b|"
    r"i (?:can(?:no|['’])t|am (?:not able|unable)|won['’]t|must decline)|as an ai\b|"
    r"i (?:do not|don['’]t) (?:feel comfortable|have (?:the )?(?:ability|information|enough)))"
)
_LIST_MARK = regex.compile(r"^\s*(?:[-*+•>#]+|\d{1,2}\)|(?P<number>\d{1,2})\.)\s+")
_EMPHASIS = regex.compile(r"(\*\*|__|\*|(?<!`)`++)(?=\S)(.{1,400}?)(?<=\S)\1")
_ENDS = regex.compile(r"[.!?…。！？:]['\"”’»)\]]*\s*$")


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a reply without its citations; a `short` answer is judged by its words."""

    text: str
    cited: tuple[int, ...] = ()
    short: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply: `answer`, `abstains`, `refused` or `empty`; `left_out` counts what is too long."""

    kind: str
    claims: tuple[Claim, ...] = ()
    left_out: int = 0


def parse_reply(text: str, form: str, known: Container[str] = "", *, cut: bool = False) -> Parsed:
    """Return a reply's claims, without a last one `cut` off; addresses in `known` passages stay."""
    bare = without_reasoning(text[: 10 * _MOST_CHARACTERS])
    bare, is_long = bare[:_MOST_CHARACTERS], len(bare) > _MOST_CHARACTERS
    # Brackets that Markdown would escape cite all the same.
    bare = regex.sub(r"\\(?=[\[\]()])", "", bare)
    bare = regex.sub(r"(?m)^[^\S\n]*+```\w*+[^\S\n]*+$", "", neutral(bare, known))
    # Single spaces keep the expressions below linear.
    bare = regex.sub(r"[^\S\n]+", " ", bare).strip()
    bare = _DOUBLE.sub(r"\1", bare)
    if not regex.search(r"[\p{L}\p{N}]", bare):
        return Parsed("empty")
    if _ABSTAINS.match(_CITATION.sub("", bare).strip()):
        return Parsed("abstains")
    if _REFUSES.match(bare):
        return Parsed("refused")
    claims = _claims(bare, form, cut=cut or is_long)
    if claims and claims[0].short and _ABSTAINS.match(claims[0].text):
        return Parsed("abstains")
    left_out = max(0, len(claims) - _MOST_CLAIMS) + is_long
    return Parsed("answer" if claims else "empty", tuple(claims[:_MOST_CLAIMS]), left_out)


def without_citations(text: str) -> str:
    """Return a text without the numbers in brackets that it cites by."""
    return "\n".join(_cited(line)[0] for line in text.splitlines())


def _claims(text: str, form: str, *, cut: bool) -> list[Claim]:
    claims: list[Claim] = []
    if form == "short":
        text = _SECOND.sub("\n", text)
    lines = [line for line in text.splitlines() if line.strip()]
    # "3. Oktober" is no item of a list: no other line has the number before or after it.
    listed = {int(number) for number in regex.findall(r"^ ?(\d{1,2})\. ", text, regex.MULTILINE)}
    # The first line may be the short answer, or the line after a label on a line of its own.
    due = form == "short"
    for at, line in enumerate(lines):
        label = _LABEL.match(line)
        short = bool(label and label["answer"]) and form == "short"
        # Without Markdown's marks of lists, headings and emphasis.
        bare = line[label.end() :] if label else line
        mark = _LIST_MARK.match(bare)
        number = int(mark["number"] or 0) if mark else 0
        if mark and (not number or listed & {number - 1, number + 1}):
            bare = bare[mark.end() :]
        rest = str(_EMPHASIS.sub(r"\2", bare)).strip()
        if not label and due:  # a few words and no question
            said, _ = _cited(rest)
            short = len(said.split()) <= _SHORT_WORDS and "?" not in said
        due = short and not rest
        if form == "short" and (so := _SO.match(rest)):
            rest, short = so[1], True
        unfinished = cut and at == len(lines) - 1
        if short and (not unfinished or _ENDS.search(rest)):
            first, rest = _first(rest)
            claims += _claim(first, short=True)
        claims += _sentences(rest, cut=unfinished, form=form)
    # The short answer comes first, wherever the reply has it.
    return sorted(claims, key=lambda claim: not claim.short)


def _first(text: str) -> tuple[str, str]:
    """Return a short answer and the rest of its line, which is checked as a sentence."""
    text = regex.sub(r'^\s*"([^"]*)"', r"\1", text)
    if len(text.split()) <= _SHORT_WORDS:
        return text, ""
    text = _AFTER_STOP.sub(r"\2\1 ", text)
    end = sentences(text)[0][1]
    return text[:end], text[end:]


def _sentences(text: str, *, cut: bool, form: str) -> list[Claim]:
    """Return the sentences of a line; citations after a full stop belong to the sentence before."""
    text = _GLUED.sub(" ", _AFTER_STOP.sub(r"\2\1 ", text))
    pieces = [text[start:end] for start, end in sentences(text)]
    if cut and pieces and not _ENDS.search(pieces[-1]):
        pieces = pieces[:-1]
    parsed: list[Claim] = []
    for piece in pieces:
        so = _SO.match(piece.strip()) if form == "short" else None
        claims = _claim(so[1], short=True) if so else _claim(piece)
        if not (claims or so) and parsed:
            # Citations alone, after a line's last sentence.
            cited = tuple(dict.fromkeys((*parsed[-1].cited, *_cited(piece)[1])))
            parsed[-1] = Claim(parsed[-1].text, cited, parsed[-1].short)
        parsed += claims
    return parsed


def _claim(text: str, *, short: bool = False) -> list[Claim]:
    bare, cited = _cited(text)
    if short:
        bare = regex.sub(r"[.。]\s*$", "", bare).strip()
    return [Claim(bare, cited, short)] if regex.search(r"[\p{L}\p{N}]", bare) else []


def _cited(text: str) -> tuple[str, tuple[int, ...]]:
    """Return a text without its citations, and the numbers cited, each once."""
    numbers: list[int] = []

    def take(found: regex.Match[str]) -> str:
        inside = regex.sub(rf"(?<=\d)(?:†[^,;]*|{_WITHIN})", "", found[1])
        pair = _RANGE.fullmatch(inside.strip())
        if pair and 0 < int(pair[2]) - int(pair[1]) < 40:
            numbers.extend(range(int(pair[1]), int(pair[2]) + 1))
        else:
            numbers.extend(int(n) for n in _NUMBER.findall(inside))
        return " "

    bare = _LEFT.sub("", " ".join(_CITATION.sub(take, text).split()))
    bare = regex.sub(r"(?<!\s)\s++([.,;:!?。，；！？])", r"\1", bare)
    return str(bare).strip(), tuple(dict.fromkeys(numbers))


#: Sentences of a passage that a claim is compared with, and sentences of it that are read.
_MOST_COMPARED, _MOST_READ = 3, 60
#: Weight of the cosine beside shared words, and least score of both, or of words alone.
_MEANING_WEIGHT, _THRESHOLD = 0.5, 0.6
#: A clause of this many words or more must share one with the passages.
_CLAUSE_WORDS = 2
#: Words that a claim repeats beside another name at least, and words of a name at most.
_SAME, _NAME_WORDS = 4, 6
#: Letters of a stem that are compared, so that `director` and `directed` are equal.
_STEM_LETTERS = 6
_THOUSANDS = regex.compile(r"(?<=\d)[,\u00a0\u202f](?=\d{3}(?!\d))")
#: A number that stands as several: a decimal or a version, a time, a date.
_PARTED = regex.compile(
    r"((?<!\d)\d++(?:\.\d++){1,3}|(?<![\d,])\d+,\d\d?(?!,?\d)|\d\d?(?::\d\d){1,2}(?!\d)"
    r"|\d{4}-\d\d?-\d\d?(?!\d))"
)
_NEGATES = regex.compile(
    r"(?i)\b(?:not|no|never|neither|nor|without|none|nobody|nothing|cannot|unable|failed|false|"
    r"denied|refused|unlike)\b|n['’]t\b|[不没沒未无無非]"
)
_CLAUSE = regex.compile(
    r"(?i)[,;:—–()!?]|\.\s|\b(?:but|although|though|while|whereas|which|who|and|because|however)\b"
)
#: "One" is not compared as a number, because of "one of them".
_VALUES = {name: str(value) for name, value in (NUMBERS | ORDINALS).items()} | {"one": ""}
#: A number in digits, of whatever notation: what is compared of a claim in another language.
_DIGITS = regex.compile(r"\d+(?:[.,:' \u00a0\u202f]\d+)*")
_ORDINAL = regex.compile(r"\A(\d+)(?:st|nd|rd|th|s)\Z")
#: Words at the beginning of a sentence that are no names in spite of their capital.
_OPENING_WORD = regex.compile(
    r"\w+(?:ly|ing|ed)|therefore|thus|hence|so|however|although|since|because|moreover|yes|no|both|"
    r"neither|either|according|overall|further|furthermore|instead|one|each|all|some|many|most|"
    r"several|another|other|such|here|answer|today|later|earlier|born|known|see|note"
)


#: `OfflineReader.likeliest`, where there is a reader.
Ask = Callable[[str, Sequence[Passage]], tuple[list[tuple[str, float]], float]] | None


@dataclass(frozen=True, slots=True)
class Support:
    """How well passages support a claim, from 0 to 1, and the reason against it, if any."""

    score: float
    against: str = ""

    @property
    def carried(self) -> bool:
        """Whether the passages support the claim."""
        return not self.against


@dataclass(frozen=True, slots=True)
class _Text:
    """The names, numbers and words of a text that are compared.

    Names are whole words, words are stems; `forms` has both of each, since a word at the beginning
    of a sentence may be either.
    """

    text: str
    names: frozenset[str]
    numbers: frozenset[str]
    words: frozenset[str]
    forms: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.names | self.numbers | self.words


def denies(text: str) -> bool:
    """Return whether a text has a negation."""
    return _NEGATES.search(text) is not None


class Evidence:
    """An answer's passages, split and embedded once; a reader is asked for names (`wrong_name`)."""

    def __init__(
        self, question: str, passages: Sequence[Passage], encoder: Encoder | None, ask: Ask = None
    ) -> None:
        self.passages = passages
        self.question = question
        self._encoder, self._ask = encoder, ask
        self._misnamed: dict[str, str] = {}
        self._sentences = [
            [_compared(p.text[a:b]) for a, b in sentences(p.text)[:_MOST_READ]] for p in passages
        ]
        self._titles = [_compared(p.heading).forms for p in passages]
        read = zip(self._titles, self._sentences, strict=True)
        #: What a claim may say of each passage.
        self._forms = [title.union(*(sentence.forms for sentence in own)) for title, own in read]
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def sharing(self, claim: str, most: int) -> list[int]:
        """Return the places of the passages that share most with a claim, best first."""
        wanted = _compared(claim)
        rare = wanted.names | wanted.numbers
        scores = [2 * len(rare & forms) + len(wanted.words & forms) for forms in self._forms]
        best = sorted(filter(scores.__getitem__, range(len(scores))), key=lambda at: -scores[at])
        return best[:most]

    def support(self, claim: str, places: Sequence[int]) -> Support:
        """Return how well the passages at these places together support a sentence."""
        found = self.shared(claim, places)
        if not found.carried:
            return found
        # Where passages have another name, more of them do not carry the claim.
        note = self._misnamed.get(claim, "") if len(places) > 1 else ""
        note = note or wrong_name(claim, [self.passages[at] for at in places], self._ask)
        if note:
            self._misnamed[claim] = note
        return Support(found.score, note)

    def shared(self, claim: str, places: Sequence[int]) -> Support:
        """Return the support by names, numbers, words and meaning that both share."""
        wanted = _compared(claim)
        if not wanted.all:
            return Support(0.0, "it says nothing that could be compared")
        nearest = [sentence for at in places for sentence in self._nearest(wanted, at)]
        titles = [self._titles[at] for at in places]
        known = frozenset[str]().union(*titles, *(sentence.forms for sentence in nearest))
        missing = [*sorted(_missing_names(wanted, known)), *sorted(wanted.numbers - known)]
        score = (len(wanted.all) - len(missing) - len(wanted.words - known)) / len(wanted.all)
        if self._encoder is not None:
            # The best cosine with a titled sentence.
            titled = [(self.passages[at].heading, self._sentences[at]) for at in places]
            texts = [f"{title}: {sentence.text}" for title, read in titled for sentence in read]
            self.embed([claim, *texts])
            vector = self._vectors[claim]
            meaning = max((float(self._vectors[text] @ vector) for text in texts), default=0.0)
            score = (1 - _MEANING_WEIGHT) * score + _MEANING_WEIGHT * meaning
        score = max(0.0, min(1.0, score))
        if missing:
            return Support(score, f"not in them: {', '.join(missing[:5])}")
        if not _negation_agrees(wanted, nearest):
            return Support(score, "one denies what the other says")
        if note := _replaced(wanted, nearest, known):
            return Support(score, note)
        if score < _THRESHOLD:
            return Support(score, "they say too little of it")
        for clause, _ in _clauses(claim):
            telling = sum(len(word) > 2 for word in clause.words)  # not "e.g."
            if telling >= _CLAUSE_WORDS and not clause.all & known:
                return Support(score, f"they say nothing of “{' '.join(clause.text.split())}”")
        return Support(score)

    def holds(self, answer: str, at: int) -> bool:
        """Return whether a short answer occurs in a passage or its title.

        Names and numbers are searched one by one; an answer with other words must occur literally
        or be supported as a sentence, since "liked ponies" may come from "did not like ponies".
        """
        wanted, known, passage = _compared(answer), self._forms[at], self.passages[at]
        text = f"{word_run(passage.heading)}\n{word_run(passage.text)}"
        if (short := word_run(answer)).strip() and short in text and wanted.numbers <= known:
            return True
        # Function words alone ("Who") must occur literally.
        if not wanted.all or wanted.numbers - known or _missing_names(wanted, known):
            return False
        return not wanted.words or self.shared(answer, [at]).carried

    def unjudged(self, claim: str) -> str:
        """Return why a claim cannot be judged: it, or a question to it, is in another language.

        Empty where it can: also of such a claim whose numbers no passage has.
        """
        known = "\n".join(passage.text for passage in self.passages)
        few = len(claim.split()) <= 3
        if not (is_in_another(claim, known) or (few and is_in_another(self.question, known))):
            return ""
        held = frozenset[str]().union(*self._forms)
        asked = {regex.sub(r"\D", "", number) for number in _DIGITS.findall(claim)}
        if asked - held - {regex.sub(r"\D", "", number) for number in _DIGITS.findall(known)}:
            return ""
        shared = _compared(claim).all & held
        both = dict.fromkeys(word for word in words(claim) if word.casefold() in shared)
        where = f"in both stand {', '.join(both)}" if both else "no name or number stands in both"
        return f"it is in another language than the passages, which the check cannot judge; {where}"

    def embed(self, texts: Sequence[str]) -> None:
        """Embed texts in one batch, to be compared later."""
        new = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        if self._encoder is not None and new:
            self._vectors |= zip(new, self._encoder.encode(new), strict=True)

    def _nearest(self, wanted: _Text, at: int) -> list[_Text]:
        """Return the sentences of a passage that share most with a claim."""
        read = self._sentences[at]
        ranked = sorted((-len(wanted.all & sentence.forms), n) for n, sentence in enumerate(read))
        return [read[n] for shared, n in ranked[:_MOST_COMPARED] if shared < 0]


def _missing_names(wanted: _Text, known: frozenset[str]) -> set[str]:
    return {name for name in wanted.names if not {name, _key(name)} & known}


def _replaced(wanted: _Text, nearest: Sequence[_Text], known: frozenset[str]) -> str:
    """Return a note where a claim repeats a sentence except for one word or name, else nothing."""
    said = _words(wanted.text)
    claim_words = [word.casefold() for word in said]
    for sentence in nearest:
        read = _words(sentence.text)
        sentence_words = [word.casefold() for word in read]
        matcher = SequenceMatcher(None, claim_words, sentence_words, autojunk=False)
        for (start, place, before), (b, d, after) in pairwise(matcher.get_matching_blocks()):
            a, c, same = start + before, place + before, (before, after)
            if a == b or c == d:
                continue
            # Two equal words on one side of it and one on the other.
            new = not {claim_words[a], _key(claim_words[a])} & known
            word = b - a == d - c == 1 and new and min(same) >= 1 and sum(same) >= 3
            # A name may end the claim; the sentence does not know it, and has another one there.
            name = (same[1] or b == len(said)) and sum(same) >= _SAME and d - c <= _NAME_WORDS
            name = name and all(one[0].isupper() for one in said[a:b])
            name = name and any(one[0].isupper() for one in read[c:d])
            if word or (name and not set(claim_words[a:b]) & set(sentence_words)):
                return f"they say “{' '.join(read[c:d])}”, not “{' '.join(said[a:b])}”"
    return ""


def _negation_agrees(wanted: _Text, nearest: Sequence[_Text]) -> bool:
    """Return whether the most similar clause to each of a claim's has a negation if it has."""
    read = [(clause.forms, no) for s in nearest for clause, no in _clauses(s.text) if clause.all]
    for clause, no in _clauses(wanted.text):
        # Shared words count before shared names; of as many, a clause that agrees.
        shared = ((len(clause.words & f), len(clause.all & f), other is no) for f, other in read)
        _, most, agrees = max(shared, default=(0, 0, False))
        if not agrees and (most or no):
            return False
    return True


@lru_cache(maxsize=512)
def _clauses(text: str) -> tuple[tuple[_Text, bool], ...]:
    """Return the clauses of a text, and whether each has a negation."""
    parts = [part for part in _CLAUSE.split(text) if part and part.strip()]
    return tuple((_compared(part), denies(part)) for part in parts)


@lru_cache(maxsize=512)
def _compared(text: str) -> _Text:
    """Return the names, numbers and words of a text."""
    content = set(content_words(text))
    names, numbers, plain, forms = (set[str]() for _ in range(4))
    for at, word in enumerate(_words(text)):
        low = word.casefold()
        if (value := _number(low)) is not None:
            numbers.add(value)
            # Of a date, a time with seconds or a version, what stands within it is told too.
            parts = value.split(".")
            runs = combinations(range(len(parts) + 1), 2) if len(parts) > 2 else ()
            forms |= {value, low, *(".".join(parts[a:b]) for a, b in runs)}
        elif word.lower() in content and low != "yes":
            forms |= {low, _key(low)}
            if word[0].isupper() and (at > 0 or not _OPENING_WORD.fullmatch(low)):
                names.add(low)
            else:
                plain.add(_key(low))
    return _Text(text, *(frozenset(x - {""}) for x in (names, numbers, plain, forms)))


def _words(text: str) -> list[str]:
    """Return the words of a text; a number of several parts is one, with points between them."""
    found: list[str] = []
    for at, piece in enumerate(_PARTED.split(_THOUSANDS.sub("", text))):
        parts = words(piece)
        if at % 2:
            if len(parts) == 2 and not parts[1].strip("0"):
                parts = parts[:1]  # 4.0 and 9:00
            # The year is the last part of a date.
            year_first = len(parts) == 3 and len(parts[0]) == 4
            parts = [".".join(parts[::-1] if year_first else parts)]
        found += parts
    return found


def _number(word: str) -> str | None:
    """Return the value of a number in digits or words, None for any other word."""
    if any(character.isdigit() for character in word):
        return str(_ORDINAL.sub(r"\1", word))
    return _VALUES.get(word)


def _key(word: str) -> str:
    return stem(word)[:_STEM_LETTERS]


#: The marks after a claim that the evidence does not support, and after one that is not judged.
MARK, UNJUDGED = "[not in the evidence]", "[not checked: in another language]"
#: Other passages that are tried where those that a claim cites do not support it.
_TRIED = 4
_STOPS = (".", "!", "?", "…", "。", "！", "？", ")", "”", '"', "'")
_YES_OR_NO = frozenset(("yes", "no", "true", "false", "是", "否", "不是", "对"))


def check(claims: Sequence[Claim], evidence: Evidence) -> tuple[Statement, ...]:
    """Return the claims as statements, in their order; citations count the passages from 1.

    A sentence is checked against the passages that it cites, then against the others shown: if they
    support it, they are cited instead, and the note says so. A short answer is supported where its
    words occur in a passage that it or its reasons cite; yes and no by their reasons alone.
    """
    evidence.embed([claim.text for claim in claims if not claim.short])
    reasons = {c: _Check(c, evidence).sentence() for c in claims if not c.short}
    behind = list(reasons.values())
    return tuple(reasons.get(c) or _Check(c, evidence).short_answer(behind) for c in claims)


def marked(statements: Iterable[Statement], numbers: dict[str, int]) -> str:
    """Return an answer's text: each statement with a mark or citations, `numbers` by passage id."""
    text = ""
    for statement in statements:
        cited = sorted(numbers[p] for p in statement.passages if p in numbers)
        marks = "".join(f"[{n}]" for n in cited if statement.carried or not statement.judged)
        if not (statement.carried and marks):
            marks = f"{marks} {MARK if statement.judged else UNJUDGED}".lstrip()
        text += f"{statement.text} {marks}"
        text += " " if statement.text.endswith(_STOPS) else "\n"
    return text.strip()


class _Check:
    """A claim and the places of the passages that it cites; each check returns its statement."""

    def __init__(self, claim: Claim, evidence: Evidence) -> None:
        self.text, self.evidence = claim.text, evidence
        self.cited = [n - 1 for n in claim.cited if 1 <= n <= len(evidence.passages)]
        missing = [n - 1 for n in claim.cited if n - 1 not in self.cited]
        self.missing = f"there is no passage {_bracketed(missing)}" if missing else ""

    def sentence(self) -> Statement:
        evidence, cited = self.evidence, self.cited
        own = evidence.support(self.text, cited) if cited else Support(0.0, "it cites nothing")
        if own.carried:
            return self._carried(self._needed(cited), own.score)
        # Others are added to those cited, then tried alone, and in pairs.
        near = [at for at in evidence.sharing(self.text, _TRIED) if at not in cited]
        added = [(*cited, at) for at in near] if cited else []
        for places in chain(added, combinations(near, 1), combinations(near, 2)):
            support = evidence.support(self.text, places)
            if support.carried:
                return self._carried(self._needed(places), support.score)
        if why := evidence.unjudged(self.text):
            return self._told(why, judged=False)
        if cited:
            do = "do" if len(cited) > 1 else "does"
            return self._told(f"{_bracketed(cited)} {do} not carry it: {own.against}", own.score)
        return self._told(
            f"{'' if self.missing else 'it cites nothing, and '}no passage carries it"
        )

    def _needed(self, places: Sequence[int]) -> Sequence[int]:
        """Return places without those that do not carry the sentence alone while the others do."""
        shared = self.evidence.shared
        for at in places:
            others = [other for other in places if other != at]
            if shared(self.text, others).carried and not shared(self.text, [at]).carried:
                places = others
        return places

    def short_answer(self, reasons: Sequence[Statement]) -> Statement:
        evidence = self.evidence
        text = self.text.casefold().strip(" .!")
        if denies(text) and text not in _YES_OR_NO:
            return self.sentence()
        supported = [reason for reason in reasons if reason.carried]
        why = next((reason.note for reason in reasons if not reason.judged), "")
        if reasons and not supported and not why:
            return self._told("none of its reasons is carried")
        places = {passage.id: at for at, passage in enumerate(evidence.passages)}
        behind = list(dict.fromkeys(places[p] for reason in supported for p in reason.passages))
        if text in _YES_OR_NO:
            if supported and len(supported) == len(reasons):
                return self._told("", min(reason.support for reason in supported), behind)
            if why and all(reason.carried or not reason.judged for reason in reasons):
                return self._told(why, judged=False)
            return self._told("yes and no are carried by their reasons, and not all of these are")
        # The passages that it cites, those of its reasons, else those that share most with it.
        near = [] if reasons else evidence.sharing(f"{evidence.question} {self.text}", _TRIED)
        for tried, most in ((self.cited, None), (behind, None), (near, 1)):
            if holding := [at for at in tried if evidence.holds(self.text, at)][:most]:
                return self._carried(holding, 1.0)
        if why := evidence.unjudged(self.text):
            return self._told(why, judged=False)
        return self._told("its words stand in no passage that it rests on")

    def _carried(self, places: Sequence[int], score: float) -> Statement:
        """Return a statement that passages carry, with a note where it does not cite them."""
        cited = _bracketed(self.cited) or "nothing that is there"
        note = f"cited {cited}; carried by {_bracketed(places)}"
        return self._told("" if set(places) <= set(self.cited) else note, score, places)

    def _told(
        self, note: str, score: float = 0.0, carrying: Sequence[int] = (), *, judged: bool = True
    ) -> Statement:
        """Return the statement with the passages that carry it, with those cited if none does."""
        ids = tuple(self.evidence.passages[at].id for at in carrying or self.cited)
        note = "; ".join(filter(None, (self.missing, note)))
        return Statement(self.text, ids, bool(carrying), score, note, judged)


def _bracketed(places: Iterable[int]) -> str:
    brackets = [f"[{at + 1}]" for at in places]
    return ", ".join(brackets[:5]) + (" and others" if len(brackets) > 5 else "")


#: What stands for a name in a question.
_GAP = "what"
#: Names and characters of a claim, and passages that it cites, that are read at most.
_MOST, _READ, _TOGETHER = 6, 220, 4
#: Least probability of another name, and how many times that of the claim's own it has to be.
_LIKELY, _TIMES = 0.1, 20
#: From this probability on the passages have a name in its place.
_AFFIRMED = 0.1
#: Names that are all less likely, while "nothing" is more likely, have not to do with each other.
_UNRELATED, _NOTHING = 0.02, 0.2
_WORD = r"(?:\p{Lu}[\p{L}\p{M}\p{N}'’-]*|\d[\d.,]*(?<![.,]))"
#: Words with a capital, and numbers among them.
_RUN = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}]){_WORD}"
    rf"(?:(?: |(?<=\b\p{{Lu}})\. |, (?=\d{{4}})| of | of the ){_WORD})*(?<!['’]s)(?<!['’-])"
)


class _Asked(NamedTuple):
    """A name, its probability, that of nothing, and another that stands in its place, if any."""

    titled: bool
    name: str
    own: float
    nothing: float
    other: str


def wrong_name(claim: str, passages: Sequence[Passage], ask: Ask) -> str:
    """Return a note where passages have another name in place of a claim's, in English alone."""
    known = "\n".join(passage.text for passage in passages)
    both = (claim, known)
    if ask is None or len(passages) > _TOGETHER or any(is_in_another(text, "") for text in both):
        return ""
    titles, texts = word_run("\n".join(passage.heading for passage in passages)), word_run(known)
    asked = list[_Asked]()
    for start, end in islice(_names(claim), _MOST):
        name, rest = claim[start:end], (claim[:start], claim[end:])
        if word_run(name) not in titles + texts or not content_words(" ".join(rest)):
            continue
        spans, nothing = ask(_GAP.join(rest).rstrip(" .") + "?", passages)
        own = max((score for text, score in spans if _same(text, name)), default=0.0)
        others = ((score, text) for text, score in spans if not _same(text, name))
        likely, other = max(others, default=(0.0, ""))
        new = any(map(str.isupper, other)) and set(content_words(other)) - set(content_words(claim))
        titled = word_run(name) in titles
        own_run, left, right = (word_run(part).split() for part in (name, *rest))
        runs = ([*left[-2:], *own_run], [*left[-1:], *own_run, *right[:1]], [*own_run, *right[:2]])
        repeated = (" ".join(run) for run in runs if len(run) == len(own_run) + 2)
        # What is repeated, or what a sole passage is about, stays as it is.
        told = any(f" {run} " in texts for run in repeated) or (titled and len(passages) == 1)
        wrong = new and not told and likely >= max(_LIKELY, _TIMES * own)
        other = other.strip(" .,;:\"'") if wrong else ""
        asked.append(_Asked(titled, name, own, nothing, other))
    best = max((one.own for one in asked), default=0.0)
    # The subject is asked for badly ("The director of what is"): only if no name is found.
    subjects = [one for one in asked if one.titled] or asked[:1]
    for one in sorted(asked):
        if one.other and not (one in subjects and best >= _AFFIRMED):
            return f"they rather say “{cut(one.other, 60)}” than “{one.name}”"
    if len(asked) > 1 and best < _UNRELATED and min(one.nothing for one in asked) > _NOTHING:
        return f"they do not say this of “{asked[0].name}” and “{asked[1].name}”"
    return ""


def _names(claim: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a claim's names; numbers and dates are none."""
    for run in _RUN.finditer(claim, endpos=_READ):
        first = regex.match(r"[\p{L}\p{M}]+ ", run[0])
        start = first.end() if first and first[0].strip().lower() in STOP_WORDS else 0
        if not regex.search(r"\d", run[0]) and set(words(run[0].lower())) - STOP_WORDS:
            yield run.start() + start, run.end()


def word_run(text: str) -> str:
    """Return the words of a text in lower case, with spaces between and around them."""
    return f" {' '.join(words(text.casefold()))} "


def _same(one: str, other: str) -> bool:
    """Return whether two names share the first letters of a word, as "America" and "American"."""
    return not {w[:4] for w in content_words(one)}.isdisjoint(w[:4] for w in content_words(other))
