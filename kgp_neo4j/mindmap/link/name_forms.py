"""Names: a question's phrases that may name entities, a name's forms, keys and ids, and checks."""

import hashlib
import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import ceil
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import regex

from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.text.words import FUNCTION_WORDS, SINGLE, WORD, stem
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.mindmap import EvidenceGraph

Row: TypeAlias = dict[str, Any]
#: Words of a name and of a question, with what stands behind an apostrophe, and with the symbols
#: that tell names apart: C++, C#, A+, O-, A*, .NET, 1.5.
_LETTER = rf"(?!{SINGLE})[\p{{L}}\p{{N}}]"
_TOKEN = regex.compile(
    rf"(?:(?<![^\s(\[\"'“‘])\.(?=\p{{L}}))?(?:\p{{N}}+(?:[.,]\p{{N}}+)+|{WORD})(?:['’]\p{{L}}+)*"
    rf"(?:[+＋]{{2,}}|[+＋](?!{_LETTER})|[#＃]+|(?<=(?<!{_LETTER}|\*)\p{{L}})\*(?!{_LETTER}|\*)"
    rf"|(?<=(?<!{_LETTER}|-)\p{{L}}{{1,2}})[-−](?!{_LETTER}|-))?"
)
#: What joins two words into one name where no space is between: TB-12, node.js, I/O, AT&T.
_JOINED = regex.compile(
    rf"(?<!{_LETTER}|\p{{M}})((?:{_LETTER}|\p{{M}})++)([-‐‑./&+])((?:{_LETTER}|\p{{M}})++)"
)
_HAN = regex.compile(SINGLE)
#: A Chinese number with a measure word, as in "for three days": both are closed classes.
QUANTITY = regex.compile(
    r"(?:已经?|有|快)?第?[\d一二三四五六七八九十百千万两半几数]+[多余来]?"
    r"(?:个?(?:半?[天日周年岁]|半?月|星期|礼拜|小时|钟头)|分钟?|[秒次遍回片粒颗支瓶盒克斤米升度]|毫[克升米]|公[斤里]|厘米)"
    r"(?:[了多来前后内]|左右|以[上下])*"
)
_MARK = regex.compile(r"[^\p{L}\p{M}']|^(?:.|[ivx]{2,4})$")
_PARENTHESIS = regex.compile(r"(?<!\s)\s*+[(（]([^()（）]*+)[)）]\s*+")
#: Ends a phrase; a hyphen or slash does not.
_PHRASE_END = regex.compile(r"[^\p{L}\p{N}\p{M}\s'’/_-]+")
_LONGEST_PHRASE = 7
#: Chinese names are long in characters.
_LONGEST_HAN_PHRASE = 14
#: Names that only count as a whole may be longer; so many words of a question may begin one.
_LONGEST_WHOLE = 12
_MOST_WHOLE = 80
#: Characters of a question that are read.
_MOST_CHARACTERS = 4_000

_WORDS: dict[str, str] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
_FUNCTION_WORDS = FUNCTION_WORDS - {"no", "not"} | set(_WORDS["function"].split())
_FILLER_WORDS = frozenset(_WORDS["filler"].split())

#: The first and the last character of what stands in a question.
Place: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A run of words of a question: its text, its words in lower case, and its places.

    `places` are its first and last characters in the question, wherever it stands there. `whole` is
    one that names only what is called exactly so: "The Birth of Venus", "Washington, D.C.".
    """

    text: str
    words: tuple[str, ...]
    places: tuple[Place, ...]
    whole: bool = False

    @property
    def plain(self) -> bool:
        """Whether it begins and ends with words that can be part of a name."""
        ends = {self.words[0], self.words[-1]}
        return content_words(ends) == ends


def is_han(text: str) -> bool:
    """Return whether a text has Chinese or Japanese characters."""
    return _HAN.search(text) is not None


def spans(text: str) -> Iterator[list[tuple[str, int, int]]]:
    """Yield the runs of words between punctuation: each word in lower case, with its place."""
    run: list[tuple[str, int, int]] = []
    for token in _TOKEN.finditer(text[:_MOST_CHARACTERS]):
        if run and _PHRASE_END.search(text, run[-1][2], token.start()):
            yield run
            run = []
        run.append((_folded(token.group()), token.start(), token.end()))
    if run:
        yield run


def _folded(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    return text.translate({ord("’"): "'", ord("−"): "-"})


def spelling(text: str) -> str:
    """Return a name with all its symbols, but no case, spaces and outer brackets."""
    return "".join(_folded(text).replace("_", " ").split()).strip("()（）")


def _cuts(text: str) -> tuple[set[int], set[int]]:
    """Return the places in a text where a name that is written as one is cut.

    A part of it has a digit (at a slash or a plus each is a number), is one letter, or is short
    behind a dot; an "&" always joins. The first are the places beside such a part, where no phrase
    ends; the second are its own, too, where no phrase of one word does: "A" in "vitamin A-rich".
    """
    beside, parts = set[int](), set[int]()
    for joined in _JOINED.finditer(text, overlapped=True):
        sign, left, right = joined[2], joined[1], joined[3]
        if (sign == "." and {left.lower(), right.lower()} & _FUNCTION_WORDS) or (
            sign == "/" and text[joined.end() : joined.end() + 1] in ("+", "#")
        ):
            continue  # a sentence ends here, or it is one of two: C/C++
        places = joined.end(1), joined.start(3)
        for place, part in zip(places, (right, left), strict=True):
            if (
                sign == "&"
                or len(part) <= (3 if sign == "." else 1)
                or (left + right).isdecimal()
                or (sign not in "/+" and regex.search(r"\p{N}", part))
            ):
                beside.add(place)
                parts |= {*places}
    return beside, parts


def agree(phrase: str, name: str) -> bool:
    """Return whether a phrase and a name have the same numbers, symbols and single letters.

    These no likeness replaces. A number that only the name has may be of a narrower thing.
    """
    given, own = _marks(phrase), _marks(name)
    return given == own or not (given or any(not regex.search(r"\d", mark) for mark in own))


def _marks(text: str) -> set[str]:
    words = (word for word in name_words(text) if word not in _FUNCTION_WORDS and not is_han(word))
    return {word for word in words if _MARK.search(word)}


def phrases(question: str) -> list[Phrase]:
    """Return all runs of words that may name an entity."""
    known: dict[tuple[str, ...], Phrase] = {}
    cuts, parts = _cuts(question[:_MOST_CHARACTERS])
    for run in spans(question):
        for first, (word, begin, _) in enumerate(run):
            if word in _FUNCTION_WORDS:
                continue
            longest = _LONGEST_HAN_PHRASE if is_han(word) else _LONGEST_PHRASE
            for after in range(first + 1, min(first + longest, len(run)) + 1):
                last, _, end = run[after - 1]
                barred = cuts if after > first + 1 else parts
                if last not in _FUNCTION_WORDS and not barred & {begin, end}:
                    words = tuple(w for w, _, _ in run[first:after])
                    places = known[words].places if words in known else ()
                    known[words] = Phrase(question[begin:end], words, (*places, (begin, end)))
    for phrase in _whole(question, cuts):
        known.setdefault(phrase.words, phrase)
    return list(known.values())


def _whole(question: str, cuts: set[int]) -> Iterator[Phrase]:
    """Yield the runs over punctuation, and those that begin or end with a function word."""
    runs = [(number, *each) for number, run in enumerate(spans(question)) for each in run]
    runs = [each for each in runs[:_MOST_WHOLE] if not is_han(each[1])]
    for first, (number, word, begin, _) in enumerate(runs):
        for after in range(first + 1, min(first + _LONGEST_WHOLE, len(runs)) + 1):
            last_number, last, _, end = runs[after - 1]
            words = tuple(w for _, w, _, _ in runs[first:after])
            # A name of function words alone is written like a name: "who made It", "AT&T".
            named = any(w not in _FUNCTION_WORDS for w in words) or (
                (first > 0 and all(question[b].isupper() for _, _, b, _ in runs[first:after]))
                or bool(_JOINED.fullmatch(question, begin, end))
            )
            inside = number == last_number and not {word, last} & _FUNCTION_WORDS
            long = not inside or after - first > _LONGEST_PHRASE
            if named and long and not cuts & {begin, end}:
                yield Phrase(question[begin:end], words, ((begin, end),), whole=True)


def content_words(words: Iterable[str]) -> set[str]:
    """Return the words that are neither function words nor fillers."""
    return {word for word in words if word not in _FUNCTION_WORDS and word not in _FILLER_WORDS}


def content_stems(words: Iterable[str]) -> tuple[str, ...]:
    """Return the sorted stems of words that are not function words."""
    return tuple(sorted({stem(word) for word in words if word not in _FUNCTION_WORDS}))


def forms(name: str) -> list[tuple[str, ...]]:
    """Return the forms of a name as words: whole, without a parenthesis, that alone, parts of "or".

    "Blood test (CBC)" is also "blood test" and "CBC", "cramps or spasms" also "cramps". Other forms
    than the whole that begin or end with a function word are left out: they are broken names.
    """
    bare = _PARENTHESIS.sub(" ", name).strip()
    # Only a parenthesis at the end is another name: "Coagulation (bleeding) disorder" is not.
    last = [m.group(1) for m in _PARENTHESIS.finditer(name) if m.end() == len(name)]
    word_lists = [name_words(text) for text in (name, bare, *last)]
    for words in list(word_lists):
        word_lists += list(_alternatives(words, 3))
    whole, *others = dict.fromkeys(word_lists)
    others = [words for words in others if words and not {words[0], words[-1]} & _FUNCTION_WORDS]
    return [whole, *others] if whole else others


def name_words(text: str) -> tuple[str, ...]:
    """Return the words of a name in lower case."""
    return tuple(_TOKEN.findall(_folded(text)))


def _alternatives(words: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    if depth and "or" in words[1:-1]:
        at = words.index("or", 1)
        for shorter in ((*words[:at], *words[at + 2 :]), (*words[: at - 1], *words[at + 1 :])):
            yield shorter
            yield from _alternatives(shorter, depth - 1)


#: The score of a name or alias as it is, and of one in another form or order.
_EXACT, _IN_WORDS = 1.0, 0.95
#: Least share of a Chinese name, and least characters of it, that the question must have.
_HAN_PART = 0.75
_HAN_LEAST = 3
#: Letters of a name that may be wrong at most, and letters of it at least.
_MOST_SLIPS, _LEAST_LETTERS = 2, 7


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase and the entities that it names, best first, each with its `score`."""

    phrase: Phrase
    entities: Sequence[Row]
    by: str

    @property
    def score(self) -> float:
        """The score of the best entity."""
        return float(self.entities[0]["score"])


class Names:
    """Looks up entities by the words, word forms and parts of their names."""

    def __init__(self, entities: Sequence[Row]) -> None:
        #: By words, by stems, and by parts of a Chinese name: score, kind of match and entity.
        self._exact: dict[tuple[str, ...], list[tuple[float, str, Row]]] = {}
        self._stems: dict[tuple[str, ...], list[tuple[float, str, Row]]] = {}
        self._parts: dict[tuple[str, ...], list[tuple[float, str, Row]]] = {}
        # Of entities with the same name, the one with more relationships comes first.
        for entity in sorted(entities, key=lambda e: (-e["degree"], e["key"])):
            for name in (entity["name"], *entity["aliases"]):
                self._add(entity, name)

    def _add(self, entity: Row, name: str) -> None:
        whole = name_words(name)
        for form in forms(name):
            by = "name" if name == entity["name"] else "alias"
            match = (_EXACT, by, entity) if form == whole else (_IN_WORDS, "words", entity)
            self._exact.setdefault(form, []).append(match)
            if not is_han("".join(form)) and (stems := content_stems(form)):
                self._stems.setdefault(stems, []).append((_IN_WORDS, "words", entity))
        if is_han(name) and len(whole) > _HAN_LEAST:
            least = max(_HAN_LEAST, ceil(_HAN_PART * len(whole)))
            for first in range(len(whole)):
                for after in range(first + least, len(whole) + 1):
                    share = (after - first) / len(whole)
                    # What is not Chinese, as B12 of 维生素B12, is never left out.
                    if share < 1 and all(map(is_han, (*whole[:first], *whole[after:]))):
                        part = self._parts.setdefault(whole[first:after], [])
                        part.append((share, "words", entity))

    def match(self, phrases: Sequence[Phrase]) -> list[Match]:
        """Return the phrases that name an entity, the longest ones where they overlap."""

        def rank(match: Match) -> tuple[float, int, float, tuple[str, ...]]:
            score, words = match.score, match.phrase.words
            return -score if score < 0.9 else -1.0, -len(words), -score, words

        matches: list[Match] = []
        for match in sorted(filter(None, map(self._match_phrase, phrases)), key=rank):
            if not _is_covered(match.phrase, [other.phrase for other in matches]):
                matches.append(match)
        return matches

    def _match_phrase(self, phrase: Phrase) -> Match | None:
        words, own = phrase.words, spelling(phrase.text)
        # Two things, as in "back pain and low back pain", are not one name in another order.
        is_one = not phrase.whole and not {"and", "or"} & {*words}
        stems = content_stems(words) if is_one else ()
        rows = self._exact.get(words) or self._stems.get(stems) or self._parts.get(words)
        if not rows:
            return None
        rows = sorted(rows, key=lambda r: (-r[0], spelling(r[2]["name"]) != own, r[1] == "alias"))
        score, by, _ = rows[0]
        entities = {entity["id"]: {**entity, "score": score} for *_, entity in rows}
        return Match(phrase, tuple(entities.values()), by)


def _is_covered(phrase: Phrase, others: Sequence[Phrase]) -> bool:
    places = [place for other in others for place in other.places]
    if is_han(phrase.text):  # a Chinese character belongs to one name; English ones share words
        return all(any(a < end and begin < b for begin, end in places) for a, b in phrase.places)
    return all(any(begin <= a and b <= end for begin, end in places) for a, b in phrase.places)


# --- Slips of spelling ---


def most_slips(word: str) -> int:
    """Return how many letters of a word may be wrong: none of a short one, a number or a symbol."""
    return 0 if len(word) < 5 or not word.isalpha() or is_han(word) else 1 if len(word) < 9 else 2


def likeness(phrase: Phrase, entity: Row, slips: Collection[str]) -> float:
    """Return the share of a phrase's letters that an entity's name or alias has, in its order.

    It is 0 unless all words are the same but for `slips`, which may have slips of spelling.
    """
    letters, least = sum(map(len, phrase.words)), _MOST_SLIPS + 1
    for words in (form for name in (entity["name"], *entity["aliases"]) for form in forms(name)):
        if len(words) == len(phrase.words):
            pairs = zip(phrase.words, words, strict=True)
            least = min(least, sum(_apart(given, own, slips) for given, own in pairs))
    return 1 - least / letters if least <= _MOST_SLIPS and letters >= _LEAST_LETTERS else 0.0


def _apart(given: str, own: str, slips: Collection[str]) -> int:
    """Return by how many letters two words differ, or more than may be where these are too many."""
    if given == own:
        return 0
    if given not in slips or not own.isalpha() or given[0] != own[0]:
        return _MOST_SLIPS + 1
    steps = SequenceMatcher(None, given, own, autojunk=False).get_opcodes()
    apart = sum(max(b - a, d - c) for step, a, b, c, d in steps if step != "equal")
    if apart == 2 and sorted(given) == sorted(own):
        apart = 1  # two letters are swapped
    return apart if apart <= most_slips(given) else _MOST_SLIPS + 1


_OWN_LABELS = frozenset(
    "Cell Column Corpus Document DocumentFolder DocumentSource Entity Keyword KgpImport "
    "KgpInstallation KnowledgeGraph NamedEntity Page Question Row Section Table".split()
)
#: Longest texts; a longer one is of another column, and each relation and type is kept for good.
_LONGEST = {"name": 1_000, "relation": 200, "type": 200, "graph name": 200}
_SPACE = re.compile(r"[\s_]+")
#: Why a text cannot be stored, nor sent to another process.
HALF = "half a character (a lone surrogate)"


def clean(text: str) -> str:
    """Return a name for display: underscores as spaces, no repeated, leading or trailing spaces."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def key_of(name: str) -> str:
    """Return the key of a name, the same for all its spellings: no case, width or extra spaces."""
    return clean(unicodedata.normalize("NFKC", name)).casefold()


def is_reserved(label: str) -> bool:
    """Return whether nodes of kgp-neo4j's own have a label; a type of that name gets none.

    Passages also have the label of the index that searches them, such as EnglishPassage.
    """
    return label in _OWN_LABELS or label.endswith("Passage")


def is_missing(text: str, missing: Collection[str] = ()) -> bool:
    """Return whether a text stands for no value: empty, or exactly one of those that are `missing`.

    Any other is a name, whatever it says: there are a Nan, a Null and a None.
    """
    return not text.strip() or text.strip() in ([missing] if isinstance(missing, str) else missing)


def problem_of(kind: str, text: str) -> str:
    """Return why a text cannot be of a kind, such as a name or a relation; empty where it can."""
    if len(text) > _LONGEST[kind]:
        return f"a {kind} of {len(text):,} characters, more than {_LONGEST[kind]:,}"
    if not is_storable(text):
        return HALF
    # `clean` has removed the control characters that are white space.
    control = next((c for c in text if unicodedata.category(c) == "Cc"), "")
    return f"a control character (U+{ord(control):04X})" if control else ""


def checked_graph(name: str) -> str:
    """Return a knowledge graph's name; raises ConfigurationError where it cannot be one."""
    if problem := problem_of("graph name", name) if name.strip() else "empty":
        raise ConfigurationError(f"the graph name is {problem}", hint="Give another: --graph NAME.")
    return name


def graph_scope(graph: str) -> str:
    """Return the token that restricts a full-text search to one knowledge graph."""
    return "g" + hashlib.sha256(graph.encode()).hexdigest()[:16]


def entity_id(graph: str, key: str) -> str:
    """Return the id of the entity of that key within a graph."""
    return _hash("entity", graph, key)


def triple_id(head: str, relation: str, tail: str) -> str:
    """Return the id of a relationship between two entities, given by their ids."""
    return _hash("triple", head, relation, tail)


def _hash(*parts: str) -> str:
    # Each part is preceded by its length, so that no two lists of parts give the same text.
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Fact(msgspec.Struct, frozen=True, tag=True, tag_field="record", array_like=True):
    """A triple of a source; it is skipped where a part is empty or missing."""

    head: str
    relation: str
    tail: str
    where: str
    head_type: str = ""
    tail_type: str = ""


class NamedEntity(msgspec.Struct, frozen=True, tag=True, tag_field="record", array_like=True):
    """An entity with its type and aliases; it need not be in any triple."""

    name: str
    where: str
    type: str = ""
    aliases: tuple[str, ...] = ()


#: What a reader yields; an InputError for a record that it could not read.
Record: TypeAlias = Fact | NamedEntity | InputError


_CAMEL = regex.compile(r"(?<=\p{Ll})(?=\p{Lu})")
#: Separators between words; symbols (C++, β-, 5%) are part of a name.
_MOST_LISTED = 20
_OTHER = regex.compile(r"[^\p{L}\p{N}\p{M}\p{S}#%&@]+")


def merge_names(entities: Sequence[Mapping[str, Any]], first: Sequence[str] = ()) -> dict[str, str]:
    """Return the duplicates among entities, each mapped to the name that represents it.

    Two names are duplicates when they have the same words in any form, or when one is an alias of
    the other. Names in `first` represent the others, then the shorter ones.
    """
    rank = {name: at for at, name in enumerate(first)}
    order = sorted(
        entities, key=lambda e: (rank.get(e["name"], len(rank)), len(e["name"]), e["name"])
    )
    by_words: dict[tuple[str, ...], str] = {}
    merged: dict[str, str] = {}
    for entity in order:
        name: str = entity["name"]
        words = [name_words(each) for each in (name, *(entity.get("aliases") or ()))]
        keys = [each if is_han("".join(each)) else content_stems(each) or each for each in words]
        known = next((by_words[key] for key in keys if key in by_words), name)
        if known != name:
            merged[name] = known
        for key in keys:
            by_words.setdefault(key, known)
    return merged


def routes(evidence: Sequence[EvidenceGraph], merged: Mapping[str, str]) -> list[str]:
    """Return the evidence as routes, as the paper writes them (section 3.2).

    Paths in walking order, "Fatigue -> possible_disease -> Flu <- possible_disease <- Fever"; then
    neighbours, with what shares a relation in brackets: "(Fatigue, Nausea) -> sign_of -> Flu".
    """
    lines = dict.fromkeys(_walk(each, merged) for each in evidence if each.kind == "path")
    near = (t for each in evidence if each.kind != "path" for t in each.triples)
    facts = dict.fromkeys(
        (merged.get(t.head, t.head), t.relation, merged.get(t.tail, t.tail)) for t in near
    )
    heads: dict[tuple[str, str], list[str]] = defaultdict(list)
    tails: dict[tuple[str, str], list[str]] = defaultdict(list)
    for head, relation, tail in facts:
        heads[relation, tail].append(head)
    for head, relation, tail in facts:
        if len(heads[relation, tail]) == 1:
            tails[head, relation].append(tail)
    for head, relation, tail in facts:
        sharing = heads[relation, tail]
        both = (sharing, [tail]) if len(sharing) > 1 else ([head], tails[head, relation])
        start, end = (x[0] if len(x) == 1 else f"({', '.join(x)})" for x in both)
        lines[f"{start} -> {relation} -> {end}"] = None
    return list(lines)


def _walk(path: EvidenceGraph, merged: Mapping[str, str]) -> str:
    at = path.entity
    line = merged.get(at, at)
    for triple in path.triples:
        forward = triple.head == at
        at = triple.tail if forward else triple.head
        arrow = "->" if forward else "<-"
        line += f" {arrow} {triple.relation} {arrow} {merged.get(at, at)}"
    return line


def readable(relation: str) -> str:
    """Return a relation's name as words: `has_symptom` and `hasSymptom` as "has symptom"."""
    return " ".join(_CAMEL.sub(" ", relation.replace("_", " ")).lower().split())


def same(name: str) -> str:
    """Return a name without case, punctuation and plural endings, for comparison."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(_singular(word) for word in _OTHER.sub(" ", text).split()) or text.strip()


def same_relation(relation: str) -> str:
    """Return a relation's name for comparison: equal for `hasSymptom` and `has symptoms`."""
    return same(readable(relation))


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if is_plural else word


def listed(names: Sequence[str], count: int = 0) -> str:
    """Return names in a row, "A, B and C"; of `count` names with how many more there are."""
    shown = list(names[:_MOST_LISTED])
    if more := max(count, len(names)) - len(shown):
        shown.append(f"{more} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
