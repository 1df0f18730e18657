"""Which relation path does a Chinese question ask for? Read from the order of its words.

Words do not change their form in Chinese: who does something stands before the verb and whom it is
done to behind it, unless a particle says otherwise (被, 由, 向), and what is said of a noun stands
before it with 的. So the names of a graph's relations are looked for in the question itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import regex

from kgp_neo4j.mindmap.explore.path_scorer import Step
from kgp_neo4j.mindmap.link.name_forms import Place

#: How sure a path is whose relations stand in the question as they are called, and one of a part of
#: a relation's name, where one end alone leads somewhere.
_SURE, _PART = 0.93, 0.7
#: A path that the order of words speaks against, where it alone leads somewhere.
_OTHER_END = 0.45
_LEAST_PART = 2
_CLAUSE = regex.compile(r"[，。；！？,;!?\n]")
_ASKS = r"谁|什么|哪|何|几|多少"
#: Before what something is done to, for, from or with; before who does it; for what is mutual.
_TOWARDS, _DONE_BY, _WITH = "向给对为把将从以", "被由受", "和与跟同"
_QUESTION = regex.compile(rf"{_ASKS}|吗|是否|是不是|有没有")
#: Before and behind a part of a relation's name that is no part of another word.
_BEFORE, _BEHIND = "的有", "是有为叫在吗了的和包"
_DOER = regex.compile(r"[者人方商]")
_JAPANESE = regex.compile(r"[\p{Hiragana}\p{Katakana}]")


@dataclass(frozen=True, slots=True)
class _Named:
    """A relation that the question names, at a place; `whole` if all of its name stands there."""

    relation: str
    start: int
    end: int
    whole: bool


def paths_in_chinese(
    question: str, mention: Place, others: Sequence[Place], relations: Sequence[str]
) -> list[tuple[tuple[Step, ...], float]]:
    """Return the path asked for from an entity, and what it may be else, each with a probability.

    `mention` and `others` are the first and last characters of that entity and of others. Empty
    where the clause asks nothing or names no relation, and for Japanese.
    """
    if _JAPANESE.search(question):
        return []
    begin = max((m.end() for m in _CLAUSE.finditer(question, 0, mention[0])), default=0)
    after = _CLAUSE.search(question, mention[1])
    clause = question[: after.start() if after else len(question)]
    if not _QUESTION.search(question, begin):
        return []
    # What stands behind another entity is said of that.
    begin = max([begin, *(end for _, end in others if end <= mention[0])])
    stop = min([len(clause), *(start for start, _ in others if start >= mention[1])])
    named = _named(clause, (begin, stop), mention, relations)
    steps: list[tuple[_Named, bool | None]] = []
    here = mention
    while named:
        chosen = _next(clause, here, named)
        named.remove(chosen)
        steps.append((chosen, _is_along(clause, here, chosen)))
        here = (min(here[0], chosen.start), max(here[1], chosen.end))
    if not steps:
        return []
    whole = all(each.whole for each, _ in steps)
    path = tuple((each.relation, along is not False) for each, along in steps)
    flipped = tuple((relation, not along) for relation, along in path)
    if len(steps) == 1 and steps[0][1] is None:
        return [(path, _SURE), (flipped, _SURE)]
    # A noun may hold both ways ("x的配偶"), and a part of a name tells no end.
    is_noun = clause[here[0] : here[1]].startswith("的", mention[1] - here[0])
    guess = [(flipped, _OTHER_END)] if is_noun or not whole else []
    return [(path, _SURE if whole else _PART), *guess]


def _named(clause: str, within: Place, mention: Place, relations: Sequence[str]) -> list[_Named]:
    """Return the relations named in a part of a clause, beside the entity, the longest first."""
    begin, stop = within
    found = list[_Named]()
    for relation in relations:
        for size in range(len(relation), _LEAST_PART - 1, -1):
            # All places of the longest part of the name that stands there.
            parts = {relation[at : at + size] for at in range(len(relation) - size + 1)}
            places = [
                _Named(relation, place.start(), place.end(), size == len(relation))
                for part in parts
                for place in regex.finditer(regex.escape(part), clause, pos=begin, endpos=stop)
                if place.end() <= mention[0] or place.start() >= mention[1]
                if size == len(relation) or _stands_alone(clause, place.span(), mention)
            ]
            if places:
                found += places
                break
    found = [each for each in found if each.whole] or found
    found.sort(key=lambda each: (each.start - each.end, not each.whole, len(each.relation)))
    apart: list[_Named] = []
    for each in found:
        if all(each.end <= other.start or each.start >= other.end for other in apart):
            apart.append(each)
    return apart


def _stands_alone(clause: str, place: Place, mention: Place) -> bool:
    """Return whether a part of a name is a word: "公司" is none in "子公司", and none of 母公司."""
    before, behind = clause[place[0] - 1 : place[0]], clause[place[1] : place[1] + 1]
    begins = place[0] == mention[1] or (bool(before) and before in _BEFORE)
    return begins and (not behind or not behind.isalpha() or behind in _BEHIND)


def _next(clause: str, here: Place, named: Sequence[_Named]) -> _Named:
    """Return the relation that is said first of what stands `here`."""
    right = min((n for n in named if n.start >= here[1]), key=lambda n: n.start, default=None)
    left = max((n for n in named if n.end <= here[0]), key=lambda n: n.end, default=None)
    if left is None or right is None:
        return left or right or named[0]
    # In "管理x的人的配偶" the clause before x says first who is meant.
    closes = clause.startswith("的", here[1]) and clause[here[1] + 1 : right.start] != ""
    return left if closes and here[0] - left.end <= 1 else right


def _is_along(clause: str, here: Place, named: _Named) -> bool | None:
    """Return whether a relation is walked along its direction; None for either."""
    before = clause[: here[0]][-1:]
    if named.end <= here[0]:
        return False
    between = clause[here[1] : named.start]
    if any(sign and sign in _WITH for sign in (before, between[:1])):
        return None
    if between == "的":
        # "x的推荐人" recommends x.
        return _DOER.match(clause, named.end) is None
    if before and before in _DONE_BY:
        return True
    if before and before in _TOWARDS + "有":
        return False
    if any(sign in between for sign in _DONE_BY):
        return False
    if asked := regex.search(_ASKS, between):
        # "x有哪些R", "x向谁R" speak of x; "x是谁的R", "x用什么R" of what is asked for.
        said = between[: asked.start()][-1:]
        return bool(said) and said in _TOWARDS + "有"
    return True
