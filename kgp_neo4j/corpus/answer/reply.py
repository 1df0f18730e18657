"""Parses a model's reply, whatever its form: the short answer, its sentences, their citations."""

from collections.abc import Container
from dataclasses import dataclass

import regex

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.llm.chat import without_reasoning
from kgp_neo4j.text.safe import neutral

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
