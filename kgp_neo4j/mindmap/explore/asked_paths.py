"""Explores a knowledge graph along the relation paths that a question asks for.

MindMap (section 3.1) explores paths between entities and their neighbours; what the question says
of relations is not used there. Here the relation paths that begin at an entity are found in the
database and scored against the whole question, and evidence is spent on complete paths, best first.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from itertools import product, takewhile
from math import prod
from typing import TypeAlias

import numpy as np
import regex
from numpy.typing import NDArray
from safetensors.numpy import load

from kgp_neo4j.mindmap.link.name_forms import Place, is_han, readable, spans
from kgp_neo4j.mindmap.load.graphs import StoredGraph
from kgp_neo4j.models.encoder import Encoder, embed
from kgp_neo4j.models.engine import DEFAULT_ENCODER
from kgp_neo4j.text.words import FUNCTION_WORDS, PAST_FORMS, stem
from kgp_neo4j.types.mindmap import EvidenceGraph, LinkedEntity, RelationPath, Triple
from kgp_neo4j.types.settings import MiningSettings

#: A relationship type, and whether it is walked along its direction.
Step = tuple[str, bool]
#: Relation paths that are walked to their ends, and entities that paths begin at.
_WALKED = 8
_STARTS = 3
#: Sequences of relations from an entity whose directions are read from the question.
_READ = 16
#: How much the scorer's own view of directions counts where the grammar tells all, the least that
#: it gives, and how likely what is asked for is not in the graph, by one step and by several.
_PRIOR, _LEAST_SEEN, _UNSEEN, _UNSEEN_WAY = 0.3, 0.05, 0.4, 0.15
#: Ends that are compared with those of other paths.
_COMPARED = 1_000
#: Routes of a path that those of another entity may leave few of.
_JOINED = 200
#: A path less probable than this is no evidence.
_LEAST = 0.001
#: A path this likely, and nearly as likely as the best, is asked for as well.
_ALSO, _NEARLY = 0.5, 0.85

#: Most of a path that no word comes near, and what is left of one to no time where that is asked.
_GUESSED, _NO_TIME = 0.45, 0.3
_WHEN = regex.compile(r"\b(?:when|(?:what|which) (?:year|date|day|month))\b", regex.I)
_ASKS = regex.compile(r"\b(?:who|whom|whose|which|what|where|when)\b", regex.I)
_YES_OR_NO = regex.compile(
    r"^\W*(?:did|does|do|is|are|was|were|has|have|had|can|could|will)\b|吗\W*$|是否|是不是|有没有",
    regex.I,
)

#: A relation path with the ids of its ends; these are read where several entities are named.
Walked: TypeAlias = tuple[RelationPath, frozenset[str]]


def explore_relation_paths(
    graph: StoredGraph, question: str, entities: Sequence[LinkedEntity], settings: MiningSettings
) -> list[RelationPath]:
    """Return the relation paths that a question may ask for, most probable first.

    Each has up to `settings.size` routes to its ends: those that other entities of the question
    reach by a path of their own, or are joined to. One that leads nowhere is there if it is likely
    what is asked for. Empty where none fits, or without an encoder.
    """
    starts = [entity for entity in entities if entity.surface in question][:_STARTS]
    search = _Search(graph, question, starts, settings)
    if is_han(question):
        walked = search.walk(search.in_chinese())
        # Many names do not tell which end is which: what leads somewhere is meant.
        walked = [each for each in walked if each[0].ends] or walked
    elif graph.encoder is not None:
        walked = search.walk(search.scored(graph.encoder))
    else:
        return []
    walked = _of_kind(question, _by_score(walked))
    if not asks_yes_or_no(question):
        walked = _united(search.before_the_end(walked))
    if len(starts) > 1:
        confirmed = [_confirmed(path, ids, walked) for path, ids in walked]
        walked = _by_score(search.joined(walked) if confirmed == walked else confirmed)
    return [replace(path, routes=path.routes[: settings.size]) for path, _ in walked]


def asks_yes_or_no(question: str) -> bool:
    """Return whether a question asks for yes or no."""
    return _YES_OR_NO.search(question) is not None


def _of_kind(question: str, walked: Sequence[Walked]) -> list[Walked]:
    """Return paths; where a time is asked for, those less probable whose ends are none.

    What is left in their place is a guess: the graph may hold another time than the one asked for.
    """
    if not _WHEN.search(question):
        return list(walked)

    ends_of = [[path.end_of(route)[1] for route in path.routes] for path, _ in walked]
    fits = [not ends or any(map(str.isdigit, "".join(ends))) for ends in ends_of]
    left = sum(path.score for (path, _), fit in zip(walked, fits, strict=True) if fit)
    made = []
    for (path, ids), fit in zip(walked, fits, strict=True):
        guess = min(_GUESSED, path.score / max(left, 1e-9) * _GUESSED)
        score = max(path.score, guess) if fit else min(path.score, _GUESSED) * _NO_TIME
        made.append((replace(path, score=score), ids))
    return _by_score(made)


def _by_score(walked: Sequence[Walked]) -> list[Walked]:
    return sorted(walked, key=lambda each: -each[0].score)


@dataclass(frozen=True, slots=True)
class _Search:
    """A question whose relation paths are looked for, from the entities `starts` on."""

    graph: StoredGraph
    question: str
    starts: Sequence[LinkedEntity]
    settings: MiningSettings

    def mentions(self) -> Iterator[tuple[LinkedEntity, Place, list[Place]]]:
        """Yield the entities with their places in the question, and the places of the others."""
        places = []
        for entity in self.starts:
            # Where it stands as words of its own, if it does.
            whole = regex.search(rf"(?<!\w){regex.escape(entity.surface)}(?!\w)", self.question)
            begin = whole.start() if whole else self.question.index(entity.surface)
            places.append((begin, begin + len(entity.surface)))
        for entity, place in zip(self.starts, places, strict=True):
            yield entity, place, [other for other in places if other != place]

    def in_chinese(self) -> Iterator[RelationPath]:
        """Yield the paths from each entity that a Chinese question may ask for, not walked."""
        for entity, place, others in self.mentions():
            for path, score in paths_in_chinese(self.question, place, others, self.graph.relations):
                yield RelationPath(entity.name, entity.id, path, score, 0)

    def scored(self, encoder: Encoder) -> Iterator[RelationPath]:
        """Yield the paths from each entity that explain what the question says, not walked."""
        graph, question = self.graph, self.question
        hops = min(self.settings.exploration.hops, HOPS)
        names = [readable(relation) for relation in graph.relations]
        rows_of = {relation: at for at, relation in enumerate(graph.relations)}
        for entity, mention, others in self.mentions():
            words = read_question(encoder, question, mention, names, others)
            near = dict(zip(graph.relations, words.weights().tolist(), strict=True))
            rows = graph.read("explore/relation_paths", entity=entity.id, weights=near, hops=hops)
            paths = [tuple(zip(row["relations"], row["forward"], strict=True)) for row in rows]
            paths = [path for path in paths if all(relation in rows_of for relation, _ in path)]
            if not paths:
                continue
            scores = path_scores(words, paths, rows_of)
            best = [rows_of[relation] for relation, _ in paths[int(scores.argmax())]]
            explained = words.explained(best)
            is_alone = len(self.starts) == 1 and words.is_short and _ASKS.search(question)
            if explained or is_alone:
                likely = np.exp(scores - scores.max())
                chances = dict(zip(paths, (likely / likely.sum()).tolist(), strict=True))
                asked = tokens(question, mention, others)
                chances = _by_asked_end(encoder, asked, chances)
                for path, chance in chances.items():
                    # What no word comes near is a guess.
                    sure = chance if explained else min(chance, _GUESSED)
                    yield RelationPath(entity.name, entity.id, path, sure, 0)

    def walk(self, paths: Iterable[RelationPath]) -> list[Walked]:
        """Walk the likeliest relation paths of each entity to their ends."""
        limit = max(self.settings.size, _JOINED if len(self.starts) > 1 else 0)
        most = {"limit": limit, "listed": _COMPARED}
        by_entity: dict[str, list[RelationPath]] = {}
        for path in sorted(paths, key=lambda path: -path.score):
            if path.score >= _LEAST or not by_entity:
                by_entity.setdefault(path.entity_id, []).append(path)
        walked: list[Walked] = []
        for start, group in by_entity.items():
            steps = [tuple(zip(*path.steps, strict=True)) for path in group[:_WALKED]]
            asked = [{"relations": relations, "forward": ways} for relations, ways in steps]
            rows = self.graph.read("explore/relation_path_ends", entity=start, paths=asked, **most)
            for row in rows:
                path = group[row["path"]]
                # Where nothing is at the end of what is asked for, that is the answer.
                if row["ends"] or path.score >= _ALSO:
                    ids = frozenset(row["ids"])
                    routes = tuple(tuple(Triple(**t) for t in route) for route in row["routes"])
                    there = [e.name for e in self.starts if e.id in ids and e.id != start]
                    ends = {"ends": row["ends"], "routes": routes, "reaches": tuple(there)}
                    walked.append((replace(path, **ends), ids))
        return walked

    def before_the_end(self, walked: Sequence[Walked]) -> list[Walked]:
        """Return paths without a last step that leads to another entity of the question."""
        # What stands before it is asked for: "which films of X star Y" asks for no actor.
        beyond = [path for path, _ in walked if path.reaches and len(path.steps) > 1]
        kept = [each for each in walked if each[0] not in beyond]
        shortened = self.walk(replace(path, steps=path.steps[:-1]) for path in beyond)
        best: dict[tuple[str, tuple[Step, ...]], Walked] = {}
        for path, ids in _by_score([*kept, *shortened]):
            best.setdefault((path.entity_id, path.steps), (path, ids))
        return list(best.values())

    def joined(self, walked: Sequence[Walked]) -> list[Walked]:
        """Return paths with those ends that the graph joins to another entity of the question."""
        ends = sorted({end for _, ids in walked for end in ids})
        others = [entity.id for entity in self.starts]
        edges: dict[tuple[str, str], Triple] = {}
        for row in self.graph.read("explore/between", entities=ends, others=others):
            edges.setdefault((row["entity"], row["neighbour"]), Triple(**row["edge"]))
        restricted = []
        for path, ids in walked:
            names = []
            for other in self.starts:
                both = frozenset(end for end in ids if (end, other.id) in edges)
                if both and other.id != path.entity_id and other.name not in path.reaches:
                    ids = both
                    names.append(other.name)
            if names:
                facts = tuple(edges[pair] for pair in sorted(edges) if pair[0] in ids)
                joined_to = f"joined to {' and '.join(names)}"
                path = replace(path.with_ends(ids), facts=facts, restricted=joined_to)
            restricted.append((path, ids))
        return restricted


def _by_asked_end(
    encoder: Encoder, words: Sequence[str], chances: Mapping[tuple[Step, ...], float]
) -> dict[tuple[Step, ...], float]:
    """Return the chances of paths with those of the ends that the question asks for.

    The likeliest relations are there in all directions, those that lead nowhere too: who asks for
    the other end is not to get this one, because the graph has nothing there.
    """
    known: dict[tuple[str, ...], float] = defaultdict(float)
    for path, chance in chances.items():
        known[tuple(relation for relation, _ in path)] += chance
    read = sorted(known, key=lambda relations: -known[relations])[:_READ]
    fitting = {relations: known[relations] * length_fits(words, relations) for relations in read}
    scale = sum(known.values()) / sum(fitting.values())
    unread = (path for path in chances if tuple(relation for relation, _ in path) not in fitting)
    made = {path: chances[path] for path in unread}
    for relations, whole in fitting.items():
        either = holds_both_ways(encoder, relations)
        along = end_chances(encoder, words, relations)
        # Of several steps, where the grammar tells little, the scorer's view counts as it is.
        told = float(np.mean([abs(2 * chance - 1) for chance in along]))
        trust = _PRIOR if len(relations) == 1 else 1 - (1 - _PRIOR) * told
        unseen = _UNSEEN if len(relations) == 1 else _UNSEEN_WAY * told
        ways = list(product((True, False), repeat=len(relations)))
        paths = [tuple(zip(relations, way, strict=True)) for way in ways]
        shares = []
        for way, path in zip(ways, paths, strict=True):
            read_of = zip(along, way, either, strict=True)
            share = prod(0.5 if both else c if forward else 1 - c for c, forward, both in read_of)
            if path not in chances:
                share *= unseen
            elif not any(either):
                share *= (chances[path] / known[relations] + _LEAST_SEEN) ** trust
            shares.append(share)
        # What holds both ways is gone both ways, as one.
        total = sum(shares) / 2 ** sum(either)
        for path, share in zip(paths, shares, strict=True):
            score = scale * whole * share / total
            # Beside another entity further words may be said of that.
            is_alone = len(path) == 1 or "y" not in words
            if path in chances or (score >= _ALSO and is_alone):
                made[path] = score
    return made


def _united(walked: Sequence[Walked]) -> list[Walked]:
    """Return paths, the best one with the ends of those that are asked for as well."""
    if not walked:
        return []
    (best, ids), *others = _by_score(walked)
    for path, reached in others:
        alike = path.entity_id == best.entity_id and len(path.steps) == len(best.steps)
        if alike and path.score >= max(_ALSO, _NEARLY * best.score) and reached - ids:
            routes = [route for route in path.routes if path.end_of(route)[0] not in ids]
            steps, ids = best.steps if ids else path.steps, ids | reached
            best = replace(best, steps=steps, routes=(*best.routes, *routes), ends=len(ids))
    return [(best, ids), *others]


def _confirmed(path: RelationPath, ids: frozenset[str], others: Sequence[Walked]) -> Walked:
    """Return a path with the ends alone that the best path of another entity reaches too."""
    for other, reached in _by_score(others):
        both = ids & reached
        if other.entity_id != path.entity_id and both and path.entity_id not in both:
            confirmed = path.with_ends(both)
            if confirmed.routes:
                return replace(confirmed, score=(path.score + other.score) / 2), both
    return path, ids


def pairs_of(triples: Iterable[Triple]) -> set[frozenset[str]]:
    """Return the pairs of entities, by id, that triples join."""
    return {frozenset((triple.head_id, triple.tail_id)) for triple in triples}


def spend(paths: Sequence[RelationPath], size: int) -> list[EvidenceGraph]:
    """Return routes of `size` triples at most: complete ones, those of the best path first.

    Then comes that by which a triple is most probably needed: of two as likely, that with few ends.
    """
    paths = [path for path in paths if path.routes]
    order = sorted(
        paths[1:], key=lambda path: -path.score / max(min(path.ends + len(path.steps) - 1, size), 1)
    )
    used: set[frozenset[str]] = set()
    chosen: list[EvidenceGraph] = []
    for path in (*paths[:1], *order):
        for route in path.routes:
            end, name = path.end_of(route)
            facts = [fact for fact in path.facts if end in (fact.head_id, fact.tail_id)]
            pairs = pairs_of((*route, *facts)) - used
            if pairs and len(used) + len(pairs) <= size:
                used |= pairs
                ends = (name for t in route for name in (t.head, t.tail))
                nodes = tuple(dict.fromkeys((path.entity, *ends)))  # in walking order
                chosen.append(EvidenceGraph("path", path.entity, route, nodes, path.score))
                for fact in facts:
                    nodes = fact.head, fact.tail
                    chosen.append(EvidenceGraph("path", name, (fact,), nodes, path.score))
    return chosen


#: How sure a path is whose relations stand in the question as they are called, and one of a part of
#: a relation's name, where one end alone leads somewhere.
_SURE, _PART = 0.93, 0.7
#: A path that the order of words speaks against, where it alone leads somewhere.
_OTHER_END = 0.45
_LEAST_PART = 2
_CLAUSE = regex.compile(r"[，。；！？,;!?\n]")
_ASKS_IN_CHINESE = r"谁|什么|哪|何|几|多少"
#: Before what something is done to, for, from or with; before who does it; for what is mutual.
_TOWARDS, _DONE_BY, _WITH = "向给对为把将从以", "被由受", "和与跟同"
_QUESTION = regex.compile(rf"{_ASKS_IN_CHINESE}|吗|是否|是不是|有没有")
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
    if asked := regex.search(_ASKS_IN_CHINESE, between):
        # "x有哪些R", "x向谁R" speak of x; "x是谁的R", "x用什么R" of what is asked for.
        said = between[: asked.start()][-1:]
        return bool(said) and said in _TOWARDS + "有"
    return True


HOPS = 4
#: The words that a question is built with; all others count by their meaning alone.
_GRAMMAR = ("", *sorted(FUNCTION_WORDS | {"same", "share", "other", "one", "ones"}))
_GRAMMAR_PLACE = {word: at for at, word in enumerate(_GRAMMAR)}
#: Function words, but for those that ask for a person, a place or a time, mean no relation.
_SKIPPED = FUNCTION_WORDS - {"who", "where", "when"}
_LONGEST_SPAN = 3
_MOST_WORDS = 40
#: How near a question's words are on average to the relations asked for, and how much nearer with
#: each further word; chosen by questions over other graphs and letters to doctors, which ask none.
_NEAR = 0.36
_NEARER = 0.015
_SHORT = 2


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The words of a question as the path scorer reads them.

    `near` is (4, relations, words): the cosine of a relation's name and the best span with a word;
    how far that is above the mean of all relations, and below the best of them; and the cosine of
    the word alone. `grammar` are the numbers of the words in _GRAMMAR (0 for any other), `place`
    their places from the entity (negative before it), `mention` which of them is the entity,
    `same` whether a relation has the stem of a word: (relations, words).
    """

    near: NDArray[np.float32]
    grammar: NDArray[np.intp]
    place: NDArray[np.float32]
    mention: NDArray[np.bool_]
    same: NDArray[np.bool_]

    def weights(self) -> NDArray[np.float32]:
        """Return a weight for each relation: how near the question comes to its name."""
        return np.asarray(self.near[:2].mean(axis=0).max(axis=1, initial=0.0))

    @property
    def is_short(self) -> bool:
        """Return whether the question is so short that all it says may mean one relation."""
        content = (self.grammar == 0) & ~self.mention
        return 0 < int(content.sum()) <= _SHORT

    def explained(self, relations: Sequence[int]) -> bool:
        """Return whether some relations (rows of `near`) explain what the question says.

        They do where its words come near enough to them on average; many words have to come nearer,
        since a long text has other things to say.
        """
        content = (self.grammar == 0) & ~self.mention
        if not content.any():
            return False
        rows = list(relations)
        near = float(np.maximum(self.near[0], self.same)[rows].max(axis=0)[content].mean())
        return near >= _NEAR + _NEARER * int(content.sum())


def read_question(
    encoder: Encoder, question: str, mention: Place, names: Sequence[str], others: Sequence[Place]
) -> QuestionWords:
    """Compare the words of a question with a graph's relations.

    `mention` is where the entity stands, `others` is what is left out, `names` are the relations'.
    """
    words: list[str] = []
    runs: list[int] = []
    for number, run in enumerate(spans(question)):
        for word, begin, end in run:
            if begin < mention[1] and mention[0] < end:
                if not words or words[-1]:
                    words.append("")
                    runs.append(number)
            elif not any(begin < b and a < end for a, b in others):
                bare = word.removesuffix("'s")
                words += [bare, "s"] if bare != word else [word]
                runs += [number] * (1 + (bare != word))
    words, runs = words[:_MOST_WORDS], runs[:_MOST_WORDS]
    phrases = [
        (first, after)
        for first, word in enumerate(words)
        if word and word not in _SKIPPED
        for after in range(first + 1, min(first + _LONGEST_SPAN, len(words)) + 1)
        if runs[after - 1] == runs[first] and all(words[first:after])
    ]
    vectors = embed(encoder, [" ".join(words[first:after]) for first, after in phrases])
    cosines = np.maximum(embed(encoder, names) @ vectors.T, 0.0)
    lead = cosines - cosines.mean(axis=0, keepdims=True)
    gap = cosines - cosines.max(axis=0, keepdims=True, initial=0.0)
    near = np.zeros((4, len(names), len(words)), np.float32)
    for column, (first, after) in enumerate(phrases):
        for at in range(first, after):
            if words[at] not in _SKIPPED:
                better = cosines[:, column] > near[0, :, at]
                for kind, values in enumerate((cosines, lead, gap)):
                    near[kind, better, at] = values[better, column]
        if after == first + 1:
            near[3, :, first] = cosines[:, column]
    grammar = np.array([_GRAMMAR_PLACE.get(word, 0) for word in words], np.intp)
    here = [at for at, word in enumerate(words) if not word]
    place = [min((at - h for h in here), key=abs, default=at + 1) for at in range(len(words))]
    is_here = np.array([not word for word in words], np.bool_)
    stems = ["" if word in FUNCTION_WORDS else stem_of(word) for word in words]
    same = np.array([[stem in own for stem in stems] for own in map(stems_of, names)], np.bool_)
    return QuestionWords(near, grammar, np.array(place, np.float32), is_here, same)


def _path_forms(paths: Sequence[Sequence[Step]]) -> NDArray[np.float32]:
    """Return the form of each path, (paths, 10): its length, directions, and how it turns back.

    The last two are steps straight back, and those against a relation that leads forward as well.
    """
    known = {tuple(path) for path in paths}
    rows = np.zeros((len(paths), 2 * HOPS + 2), np.float32)
    for row, path in zip(rows, paths, strict=True):
        row[len(path) - 1] = 1.0
        for at, (relation, forward) in enumerate(path):
            row[HOPS + at] = 1.0 if forward else -1.0
            if at and path[at - 1] == (relation, not forward):
                row[-2] += 1
            if not forward and (*path[:at], (relation, True)) in known:
                row[-1] += 1
    return rows


def _word_features(
    words: QuestionWords, paths: Sequence[Sequence[Step]], place: Mapping[str, int]
) -> NDArray[np.float32]:
    """Return each word beside each path, (paths, words, 21): the four kinds of nearness to each of
    the four steps, the best relation's, and where the word stands. `place` is the row of a relation
    in `words.near`.
    """
    nothing = words.near.shape[1]
    near = np.concatenate([words.near, np.zeros_like(words.near[:, :1])], axis=1)
    steps = np.full((len(paths), HOPS), nothing)
    for row, path in zip(steps, paths, strict=True):
        row[: len(path)] = [place[relation] for relation, _ in path]
    count, size = len(paths), len(words.place)
    beside = near[:, steps].transpose(1, 3, 0, 2).reshape(count, size, 4 * HOPS)
    best = words.near[:2].max(axis=1).T
    where = np.stack([words.place / 8, np.abs(words.place) / 8, words.mention], axis=1)
    same = np.concatenate([best, where], axis=1).astype(np.float32)
    return np.concatenate([beside, np.broadcast_to(same, (count, *same.shape))], axis=2)


def path_scores(
    words: QuestionWords, paths: Sequence[Sequence[Step]], place: Mapping[str, int]
) -> NDArray[np.float32]:
    """Return a score for each path: their softmax is the probability that it is meant."""
    w = trained("path_scorer")
    forms = _path_forms(paths)
    size = len(words.place)
    beside = _word_features(words, paths, place)
    grammar = w["grammar"][words.grammar]
    split = np.cumsum([beside.shape[2], grammar.shape[1]])
    near, spoken, whole = np.split(w["input.weight"].T, split)
    hidden = beside @ near + (grammar @ spoken)[None] + (forms @ whole)[:, None]
    hidden = np.maximum(hidden + w["input.bias"], 0.0)
    for layer in ("first", "second"):
        kernel = w[f"{layer}.weight"]  # (out, in, width)
        reach = kernel.shape[2] // 2
        padded = np.pad(hidden, ((0, 0), (reach, reach), (0, 0)))
        places = range(kernel.shape[2])
        convolved = sum(padded[:, at : at + size] @ kernel[:, :, at].T for at in places)
        hidden = hidden + np.maximum(convolved + w[f"{layer}.bias"], 0.0)
    here = words.mention.astype(np.float32)
    entity = (hidden * here[:, None]).sum(axis=1) / max(here.sum(), 1.0)
    read = np.concatenate([hidden.mean(axis=1), hidden.max(axis=1), entity, forms], axis=1)
    last = np.maximum(read @ w["middle.weight"].T + w["middle.bias"], 0.0)
    scores = (last @ w["output.weight"].T + w["output.bias"]).reshape(len(paths))
    # The temperature makes them hold on questions that the network was not trained on.
    return np.asarray(scores / float(w["temperature"][0]), dtype=np.float32)


#: How sure the end is where the words are the same.
_SAME = 0.95
#: Words before a noun that says what the other end is.
_ASKING = frozenset("which what many other".split())
_BE = frozenset("is was are were be been being".split())
_HAVE = frozenset("has have had".split())
_AUXILIARY = _BE | _HAVE | frozenset("do does did can could will would".split())
_COPULAS = _BE | _HAVE
_ARTICLES = frozenset("the a an".split())
_PREPOSITIONS = frozenset("to from in on at for with into under after over of by".split())
#: Endings of who does something, and of whom it is done to.
_DOES = regex.compile(r"(?:er|or|ist|ian|ress|ant)s?$")
_IS_DONE = regex.compile(r"(?:ee)s?$")
_WORD = regex.compile(r"['’]s\b|(?<=s)['’](?=\s)|[^\W_]+(?:-[^\W_]+)*")
#: Log odds by which a name is rather a verb: with an "s", and where the question has it as one.
_THIRD_PERSON, _USED = 3.5, 2.0
#: What each step too many or too few takes of a path's probability.
_UNFIT = 0.03
_OWNED = regex.compile(r"['’]s?$")
#: Least nearness of a word to a relation, beside words of the same stem.
_LEAST_ALIKE = 0.25


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said of one end: its main word, its voice, all of it, and of which end.

    The voice is 1 for who does something, -1 for whom it is done to, 0 where untold; a verb's text
    is of who does it. `first`: it is said of a relation's head, or of a question's known end.
    """

    word: str
    voice: int
    text: str
    first: bool
    noun: bool
    #: A participle that may be either voice: "metabolised to".
    open: bool = False


def tokens(question: str, mention: Place, others: Sequence[Place]) -> list[str]:
    """Return the words of a question with "x" for its entity and "y" for each other one."""
    for begin, end in sorted({mention, *others}, reverse=True):
        name = " x" if (begin, end) == mention else " y"
        owned = _OWNED.search(question[begin:end])
        question = question[:begin] + name + (owned[0] if owned else "") + question[end:]
    return [w.replace("’", "'").lower() for w in _WORD.findall(question)]


def end_chances(encoder: Encoder, words: Sequence[str], path: Sequence[str]) -> list[float]:
    """Return for each relation of a path how likely it is walked along its direction.

    `words` are from `tokens`, `path` are the relations' names from the entity on.
    """
    if "x" not in words:
        return [0.5] * len(path)
    chances, here = [], words.index("x")
    for name, at in zip(path, _places(encoder, words, path), strict=True):
        if at is None:
            chances.append(0.5)
            continue
        asked = _of_question(words, here, at)
        names = _of_relation(encoder, name, asked)
        chances.append(sum(share * _along(encoder, asked, own) for share, own in names if share))
        here = at
    return chances


def holds_both_ways(encoder: Encoder, names: Sequence[str]) -> list[bool]:
    """Return for each relation whether it holds from either end, as "married to" does."""
    if encoder.name != DEFAULT_ENCODER:
        return [False] * len(names)
    weights = trained("asked_end")
    odds = embed(encoder, [readable(name) for name in names]) @ weights["both"]
    return [bool(value > 0) for value in odds + weights["both_bias"][0]]


def length_fits(words: Sequence[str], path: Sequence[str]) -> float:
    """Return how likely a path has as many steps as the question's words mean, 1 where it may.

    Each step needs words of its own, and a word that is said twice means two steps.
    """
    plain = [at for at, word in enumerate(words) if _is_content(word)]
    runs = sum(at - 1 not in plain for at in plain)
    least = max(Counter(stem_of(words[at]) for at in plain).values(), default=1)
    return _UNFIT ** (max(len(path) - runs, 0) + max(least - len(path), 0))


def stems_of(name: str) -> set[str]:
    """Return the stems of a relation's name: "mentees" has that of `mentors`."""
    return {stem_of(word) for word in readable(name).split() if word not in FUNCTION_WORDS}


def _is_content(word: str) -> bool:
    return word not in FUNCTION_WORDS and word not in ("x", "y") and word[0].isalnum()


def _along(encoder: Encoder, asked: _Said, own: _Said) -> float:
    """Return how likely the known end of a question is the relation's head."""
    if own.open and not asked.noun:
        own = replace(own, voice=asked.voice)
    # Of nouns "employer" and "employee" tell who does it, "metabolite" does not.
    voices = asked.voice * own.voice
    is_same = asked.noun and own.noun and stem(asked.word) == stem(own.word)
    if stem_of(asked.word) == stem_of(own.word) and (voices or is_same):
        chance = _SAME if voices > 0 or (is_same and not voices) else 1 - _SAME
    elif encoder.name == DEFAULT_ENCODER:
        weights = trained("asked_end")
        roles = embed(encoder, [saying(asked.text), saying(own.text)]) - weights["mean"]
        roles = roles @ weights["matrix"].T
        chance = float(1 / (1 + np.exp(-(roles[0] @ roles[1] + weights["bias"][0]))))
        if sum(said.voice < 0 and not said.noun for said in (asked, own)) == 1:
            chance = 1 - chance
    else:
        chance = 0.5
    # Said of the known end and of the head alike, the known end is the head.
    return chance if asked.first == own.first else 1 - chance


def saying(text: str) -> str:
    """Return what is said of an end as the matrix was trained on it."""
    return f"x {text} y"


@cache
def trained(name: str) -> Mapping[str, NDArray[np.float32]]:
    """Return the trained weights of a module here, by their names."""
    file = resources.files("kgp_neo4j.mindmap.explore") / f"{name}.safetensors"
    return {name: values.astype(np.float32) for name, values in load(file.read_bytes()).items()}


@lru_cache(maxsize=1 << 12)
def stem_of(word: str) -> str:
    """Return the stem that a verb shares with who does it: manag for manages and manager."""
    word = PAST_FORMS.get(word, word)
    bare = stem(regex.sub(r"(?:er|or|ee|ed|ing)s?$", "", word) or word)
    return bare.removesuffix("e").removesuffix("i")[:7]


def _places(encoder: Encoder, words: Sequence[str], path: Sequence[str]) -> list[int | None]:
    """Return for each relation the place of the word that means it."""
    plain = [at for at, word in enumerate(words) if _is_content(word)]
    names = [readable(name) for name in path]
    if not plain:
        return [None] * len(path)
    near = embed(encoder, names) @ embed(encoder, [words[at] for at in plain]).T
    stems = [stems_of(name) for name in path]
    here = words.index("x")
    scored = sorted(
        ((float(near[row, column]) + (stem_of(words[at]) in stems[row]) - 0.001 * abs(at - here)
          - 0.01 * (words[at - 1 : at] in (["which"], ["what"])), row, at)
         for row in range(len(path)) for column, at in enumerate(plain)), reverse=True
    )  # fmt: skip
    chosen: list[int | None] = [None] * len(path)
    for score, row, at in scored:
        if score >= _LEAST_ALIKE and chosen[row] is None and at not in chosen:
            chosen[row] = at
    # A relation that is gone along twice is meant by the nearer word first.
    for name in set(path):
        rows = [row for row, other in enumerate(path) if other == name and chosen[row] is not None]
        # In "the manager of x's manager" the one behind x.
        places = [place for row in rows if (place := chosen[row]) is not None]
        places.sort(key=lambda place: (abs(place - here), place < here))
        for row, place in zip(rows, places, strict=True):
            chosen[row] = place
    return chosen


def _of_question(words: Sequence[str], here: int, at: int) -> _Said:
    """Return what the word at a place says of the known end, at the place `here`, or the other."""
    word, start = words[at], at
    # "What risk factor does", but not "which company bought".
    is_whole = not _AUXILIARY.isdisjoint(words[at + 1 : at + 2])
    while is_whole and start and _is_content(words[start - 1]):
        start -= 1
    before = words[start - 1] if start else ""
    after = list(words[at + 1 : at + 3])
    between = words[min(here, at) + 1 : max(here, at)]
    owned = here < at and not {"'s", "'"}.isdisjoint(between[:1])
    if before in _ASKING:
        return _noun(word, False)
    noun = (
        owned
        or before in _ARTICLES | {"whose", "as", "'s", "'"}
        or (after[:1] == ["of"] and not word.endswith("ed"))
    )
    copula = not _BE.isdisjoint(words[max(0, at - 5) : at])
    by = "by" in after or ("by" in words[:here] and here < at)
    if noun:
        # "whose manager is X", "is X the manager of", "the manager X": X is it; "X's manager" and
        # "X has a manager": not.
        holds = here < at and not _HAVE.isdisjoint(between)
        known = (before == "whose" or not between) if at < here else not (owned or holds)
        return _noun(word, known)
    # "is X served" is passive as well, "served X" is not.
    beside = [*words[max(here - 1, 0) : here], words[at - 1]]
    passive = by and (copula or "by" in after)
    passive |= here < at and _is_past(word) and not _BE.isdisjoint(beside)
    behind = list(takewhile(_PREPOSITIONS.__contains__, after))
    behind = [w for w in behind if w != "by"] if passive else behind
    text = " ".join((word, *behind))
    return _Said(word, -1 if passive else 1, text, here < at, noun=False)


def _noun(word: str, first: bool) -> _Said:
    voice = 1 if _DOES.search(word) else -1 if _IS_DONE.search(word) else 0
    return _Said(word, voice, f"is the {word} of", first, noun=True)


def _is_past(word: str) -> bool:
    return word.endswith(("ed", "en", "wn", "ught")) or word in PAST_FORMS


def _of_relation(encoder: Encoder, name: str, asked: _Said) -> list[tuple[float, _Said]]:
    """Return what a relation's name may say of its head or its tail, with probabilities."""
    words = readable(name).split()
    be, has = words[0] in _BE, words[0] in _HAVE
    while len(words) > 1 and words[0] in _COPULAS | _ARTICLES | {"as"}:
        words = words[1:]
    last, said = words[-1], " ".join(words)
    content = [w for w in words if w not in _PREPOSITIONS] or words
    word = next((w for w in content if stem_of(w) == stem_of(asked.word)), content[0])
    if last == "by":
        return [(1.0, _Said(word, -1, " ".join(words[:-1]), True, noun=False))]
    noun = replace(_noun(word, last == "of"), text=f"is the {said} of".replace(" of of", " of"))
    # "metabolised to" alone may be either voice: it is what the question says.
    either = last in _PREPOSITIONS and _is_past(word)
    voice = -1 if be and _is_past(word) else 1
    verb = _Said(word, voice, f"is {said}" if be else said, True, noun=False, open=either)
    if last in _PREPOSITIONS and last != "of":
        chance = 1.0
    elif has:
        chance = float(_is_past(word))
    elif encoder.name == DEFAULT_ENCODER:
        weights = trained("asked_end")
        odds = embed(encoder, [saying(said)])[0] @ weights["verb"] + weights["verb_bias"][0]
        # A name in the plural is rare, and a question that has the word as a verb tells.
        is_used = not asked.noun and stem_of(asked.word) == stem_of(word)
        odds += _THIRD_PERSON * said.endswith("s") + _USED * is_used
        chance = float(1 / (1 + np.exp(-odds)))
    else:
        chance = float(_is_past(word))
    return [(chance, verb), (1 - chance, noun)]
