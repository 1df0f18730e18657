"""What a question names, and the passage that answers has to have too: numbers, dates, names.

"Who watches site 27?" is not answered by what is said of site 26. A number that is counted with
("more than 30 employees", "24 kg") names nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from kgp_neo4j.corpus.read.parts import UNITS
from kgp_neo4j.corpus.traverse.algorithm import passage_of
from kgp_neo4j.environment.configuration import LONGEST_ASKED
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.text.values import COMPARING, MONTHS, ORDINALS, date_places
from kgp_neo4j.text.words import FUNCTION_WORDS, STOP_WORDS, words
from kgp_neo4j.types.corpus import Answer, Passage, ReasoningPath, Retrieval, Step

_CODE = re.compile(
    r"(?<![\w.,/:$£€+-])(?:(?P<code>(?=[A-Za-z/.-]*\d)(?=[\d/.-]*[A-Za-z])[A-Za-z0-9]+"
    r"(?:[-./][A-Za-z0-9]+)*|[A-Z]{1,5} \d{1,5}[A-Za-z]?|\d+ [A-HJ-Z](?![\w’'.]))"
    r"|(?P<parts>\d+(?:[./]\d+)+)|(?P<number>\d+))(?![\w%:/-]|[.,]\d)"
)
#: "30kg", "10pm", "21st", "1990s", "18-year-old": a quantity or an order, no code.
_COUNTED = re.compile(r"\d+(?:[.,]\d+)?(?:-[a-z]{2,}.*|(?P<unit>[a-z]{1,3}))")
_ENDINGS = frozenset("am pm s k x h b d".split())
_VERSION = re.compile(r"[vV]?(\d+(?:\.\d+)+)")
_YEAR = re.compile(r"(?<![\w.,/:$£€-])(?:1\d{3}|20\d{2})(?![\w%/-]|[.,:]\d)")
_ANY_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d{2})(?!\d)")
_YEARS = re.compile(r"(1\d{3}|20\d\d)\s*(?:[-–/]|to|until|till|through|and)\s*(\d{4}|\d\d)(?!\d)")
#: What stands before a number or time that is compared with, and names nothing.
_COMPUTED = re.compile(
    rf"\b(?:{'|'.join(ahead for ahead, _ in COMPARING.values())}|than|every|about|"
    r"around|between\s+\S+\s+and)\s*\Z"
)
#: What may stand between a word and its number: "site number 27", "Site #27".
_LABELS = frozenset("number num no nr".split())
_LABEL = rf"(?:\s+(?:{'|'.join(_LABELS)})\b\.?)?\s*+(?:#\s*+)?"
#: A word before a name, and the characters before it in which that is looked for.
_GIVEN, _BEFORE = re.compile(r"([^\W\d_]+)\.?\s+\Z"), 60
_MONTHS = "|".join(MONTHS)
_DATE = re.compile(
    rf"(?i)\b(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTHS})|(?:{_MONTHS})\s+\d{{1,2}})\b"
    r"(?:,?\s+\d{4})?|\b\d{4}-\d\d-\d\d\b|\b\d\d?[./]\d\d?[./]\d{4}\b"
)
_NAME = re.compile(r"\b[^\W\d_]*[A-Z]\w*(?:['’-]\w+)*(?:\s+[A-Z]\w*(?:['’-]\w+)*)*")
_FIRST = re.compile(r"(?:^|[.?!:;]\s+|[\"“‘(])\W*\w+(?:['’]\w+)?")
_DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
#: Least share of English function words in a question whose capitals mean names.
_ENGLISH = 0.25
#: Least likeness of a code or number and of a name that is offered instead, and letters of a name
#: that may be unknown.
_NEAR, _NEAR_NAME, _SHORTEST = 0.65, 0.7, 4
#: First passages, where one that has what is asked for should be.
_FIRST_READ = 5
#: Words of a question that passages are sought by, as `include/words` has them.
_MOST_TERMS = 200


@dataclass(frozen=True, slots=True)
class Identifier:
    """What a question names, as it says it; `query` finds it in the full-text index.

    `has` tells whether a text has it, `others` finds what is of its kind: a passage which has
    another instead is about that one; of dates only where it is headed by another (`in_heading`).
    In a `series` it is missing only where documents have others.
    """

    text: str
    query: str
    has: Callable[[str], object]
    others: re.Pattern[str] | None = None
    in_heading: bool = False
    series: bool = False
    named: bool = False

    def is_in(self, passage: Passage) -> bool:
        """Return whether a passage, or what it is headed by, has it."""
        return bool(self.has(_whole(passage)))

    def is_displaced(self, passage: Passage) -> bool:
        """Return whether a passage is about another of its kind, and not about it."""
        text = passage.heading if self.in_heading else _whole(passage)
        return bool(self.others and self.others.search(text)) and not self.is_in(passage)

    def is_missing(self, passages: Sequence[Passage]) -> bool:
        """Return whether it is not there, if none has it: in a series, whether there are others."""
        others = self.others if self.series else None
        return not others or any(others.search(_whole(passage)) for passage in passages)

    def near(self, passages: Sequence[Passage]) -> str:
        """Return what is spelled nearly so in passages, as they have it; empty for nothing."""
        if self.in_heading:  # another date is no misspelling
            return ""
        kind = _NAME if self.named else self.others or _NAME
        runs = {" ".join(m[0].split()) for each in passages for m in kind.finditer(_whole(each))}
        likeness, run = max(((self._likeness(run), run) for run in runs), default=(0.0, ""))
        return run if likeness >= (_NEAR_NAME if self.named else _NEAR) else ""

    def _likeness(self, run: str) -> float:
        if not self.named:
            return _alike(self.text[-len(run) :], run)
        # Nearer by the whole name than by its last word.
        last = _alike(self.text.rpartition(" ")[2], run.rpartition(" ")[2])
        return max(_alike(self.text, run), 0.9 * last)


def _whole(passage: Passage) -> str:
    return f"{passage.heading}\n{passage.text}"


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def identifiers_of(question: str, *, names: bool = True) -> list[Identifier]:
    """Return what a question names, each once; without `names` only numbers, codes and dates."""
    question = " ".join(question[:LONGEST_ASKED].split())
    if question.isupper():
        return []
    found = list(_dated(question))
    for one in (*_numbered(question), *(_named(question) if names else ())):
        if not any(one.text.lower() in known.text.lower() for known in found):
            found.append(one)
    return found


def _numbered(question: str) -> Iterator[Identifier]:
    """Yield the codes, versions and numbers of a question."""
    for match in _CODE.finditer(question):
        text, before = match[0], question[: match.start()]
        ahead = [word.lower() for word in re.findall(r"[\w’'-]+", before)]
        noun = next((word for word in reversed(ahead) if word not in _LABELS), "")
        named = noun.isalpha() and noun not in STOP_WORDS | _DAYS
        noun = noun if named and re.search(r"[\w.]\s+#?\Z", before) else ""
        counted = _COUNTED.fullmatch(text)
        unit = counted["unit"] if counted else None
        behind = re.match(r"\s+([^\W\d_]+)", question[match.end() :])
        version = _VERSION.fullmatch(text)
        if (
            (counted and (unit is None or unit in UNITS or unit in _ENDINGS))
            or text.lower() in ORDINALS
            or noun in MONTHS
            or _COMPUTED.search(before.lower())
        ):
            continue
        if match["code"] and not version:
            if not _YEAR.search(text):
                yield _code(text, noun)
        elif (version or (noun and not _YEAR.fullmatch(text))) and not (
            behind and (behind[1].endswith("s") or behind[1].lower() in UNITS)
        ):
            yield _label(version[1] if version else text, noun)


def _code(text: str, noun: str) -> Identifier:
    """Return a code such as "17B", "KX-104" or "BK 212"; its parts may stand apart or joined."""
    parts = re.findall(r"[^\W\d_]+|\d+", text)
    has = re.compile(rf"(?<!\w){r'[-–./ ]?'.join(parts)}(?!\w)", re.IGNORECASE)
    shapes = (r"\d+" if part.isdigit() else f"[A-Z]{{{len(part)}}}" for part in parts)
    others = re.compile(rf"(?<!\w){r'[-–./ ]?'.join(shapes)}(?!\w)")
    query = f'"{text}" OR "{" ".join(parts)}" OR "{"".join(parts)}"'
    return Identifier(f"{noun} {text}".strip(), query, has.search, others)


def _label(text: str, noun: str) -> Identifier:
    """Return a number or a version with the word that it belongs to: "site 27", "version 3.1"."""
    before = rf"\b{re.escape(noun)}s?{_LABEL}v?" if noun else r"(?<![\w.,])v?"
    end = r"(?![\w%/]|[.,]\d)"
    exact = re.escape(text)
    has = re.compile(rf"{before}{exact}{end}|\|\s*{exact}\s*\|", re.IGNORECASE)
    same = "".join(r"\d+" if part.isdigit() else rf"\{part}" for part in re.findall(r"\d+|.", text))
    others = re.compile(f"{before}{same}{end}", re.IGNORECASE)
    query = f'"{noun} {text}"~2 OR (+{noun} +"{text}")' if noun else f'"{text}"'
    return Identifier(f"{noun} {text}".strip(), query, has.search, others, series=True)


def _dated(question: str) -> Iterator[Identifier]:
    """Yield the dates and years of a question that it does not compare with."""
    for (year, month, day), start, end in date_places(question):
        counted = re.match(r"\s+[a-z]+s\b", question[end:])
        if _COMPUTED.search(question[:start].lower()) or (
            not month and (counted or not _YEAR.match(question, start))
        ):
            continue
        names = [name for name, at in MONTHS.items() if at == month]
        months = rf"(?:{'|'.join(names)})\b\.?"
        days = (
            rf"\b(?:0?{day}(?:st|nd|rd|th)?\s+(?:of\s+)?{months}|{months}\s+0?{day}\b"
            rf"|{year}-0?{month}-0?{day}\b|0?{day}[./]0?{month}[./]|0?{month}/0?{day}/)"
        )
        told = re.compile(days if day else months if month else "", re.IGNORECASE)
        query = f'+"{year}"' + f" +({' '.join(names)})" * bool(month) + f" +{day}" * bool(day)
        others = _DATE if day else _ANY_YEAR
        yield Identifier(question[start:end], query, _in_year(year, told), others, True, True)


def _in_year(year: int, told: re.Pattern[str]) -> Callable[[str], bool]:
    """Return what tells whether a text has the year, alone or in a span, and what is `told`."""

    def has(text: str) -> bool:
        spans = [(a, b if len(b) == 4 else a[:2] + b) for a, b in _YEARS.findall(text)]
        spans += [(one, one) for one in _ANY_YEAR.findall(text)]
        return any(int(a) <= year <= int(b) for a, b in spans) and bool(told.search(text))

    return has


def _named(question: str) -> Iterator[Identifier]:
    """Yield the names of a question in English: words with capitals that begin no sentence."""
    spoken = words(question)
    if sum(word.lower() in FUNCTION_WORDS for word in spoken) < _ENGLISH * len(spoken):
        return
    firsts = {match.end() for match in _FIRST.finditer(question)}
    for match in _NAME.finditer(question):
        run = match[0].removesuffix("'s").removesuffix("’s")
        first, _, rest = run.partition(" ")
        run = rest if rest and first.lower() in STOP_WORDS else run
        last = words(run)[-1:]
        if match.end() in firsts or not last or any(map(str.isdigit, run)):
            continue
        word = last[0].lower()
        if len(word) < _SHORTEST or last[0].isupper() or word in STOP_WORDS | MONTHS.keys() | _DAYS:
            continue
        given = words(run)[0].lower() if " " in run else ""
        others = re.compile(re.escape(word), re.IGNORECASE) if given else None
        query = f"{word} OR {word}* OR {word}~"
        yield Identifier(run, query, _has_name(given, word), others, named=True)


def _has_name(given: str, last: str) -> Callable[[str], bool]:
    """Return what tells whether a text has a name: whole, or without a given name of another."""
    name = re.compile(re.escape(last.removesuffix("s")), re.IGNORECASE)

    def has(text: str) -> bool:
        places = [match.start() for match in name.finditer(text)]
        before = [_GIVEN.search(text, max(0, at - _BEFORE), at) for at in places]
        # "Mrs Keller", "J. R. Keller" and "the widow Keller" may be meant; "Hanna Keller" is not.
        free = any(not b or len(b[1]) < _SHORTEST or not b[1][0].isupper() for b in before)
        return bool(before) and (free or given in text.lower())

    return has


def identify(
    database: Database, corpus: str, found: Retrieval, *, names: bool
) -> tuple[Retrieval, Callable[[Answer], Answer]]:
    """Return what was found, with the passages first that have what the question names.

    Left out are passages about another thing of the same kind, as site 26 beside site 27. The
    function returned adds them to an answer, and what no document mentions: where the question
    names that, what the offline reader found is no answer. Of the whole corpus its full-text index
    is asked, once; `names` have capitals in English.
    """
    asked = identifiers_of(found.question.text, names=names) if found.passages else []
    if not asked:
        return found, lambda answer: answer
    terms = " ".join(words(found.question.text.lower())[:_MOST_TERMS])
    queries = [f"+({one.query}) {terms}" for one in asked]
    rows = database.read_packed("traverse/mentioned", corpus=corpus, queries=queries)
    known = {passage.id: passage for passage in found.passages}
    for passage in map(passage_of, rows):
        known.setdefault(passage.id, passage)
    first, left, missing = list[str](), set[str](), list[Identifier]()
    for one in asked:
        held = [id_ for id_, passage in known.items() if one.is_in(passage)]
        if not held and one.is_missing(found.passages[:_FIRST_READ]):
            missing.append(one)
        elif held and one.others:
            first += held[:_FIRST_READ]
            left.update(id_ for id_, passage in known.items() if one.is_displaced(passage))
    kept = [passage.id for passage in found.passages if passage.id not in left]
    first = [id_ for id_ in first if id_ not in left]
    if not set(first) & set(kept[:_FIRST_READ]):
        kept = [*first, *kept]
    paths = {id_: ReasoningPath((Step(id_, "seed", 0.0, reason="words"),)) for id_ in known}
    paths |= {path.last: path for path in found.paths}

    def only(ids: Iterable[str]) -> Retrieval:
        ordered = dict.fromkeys(ids)
        passages = tuple(known[id_] for id_ in ordered)
        return replace(found, passages=passages, paths=tuple(paths[id_] for id_ in ordered))

    others = only(passage.id for passage in found.passages if passage.id in left)
    absent = tuple(one.text for one in missing)
    near = [*filter(None, (one.near(list(known.values())) for one in missing))]

    def told(answer: Answer) -> Answer:
        notes = (f"Did you mean {' or '.join(near)}?",) if near else ()
        reading = answer.reading
        if absent and not answer.from_structure:
            if answer.statements:
                notes = (f"No document mentions {' or '.join(absent)}.", *notes)
            elif reading is not None:
                reading = replace(reading, text="", kind="none", spans=(), stated=False)
                answer = replace(answer, text="", stated=False, reading=reading)
        passages = (*answer.passages, *others.passages)
        paths, notes = (*answer.paths, *others.paths), (*answer.notes, *notes)
        return replace(answer, passages=passages, paths=paths, notes=notes, missing=absent)

    return only(kept), told
