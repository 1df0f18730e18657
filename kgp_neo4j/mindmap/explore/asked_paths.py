"""Explores a knowledge graph along the relation paths that a question asks for.

MindMap (section 3.1) explores paths between entities and their neighbours; what the question says
of relations is not used there. Here the relation paths that begin at an entity are found in the
database and scored against the whole question, and evidence is spent on complete paths, best first.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np
import regex

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.explore.asked_end import end_chances, holds_both_ways, length_fits, tokens
from kgp_neo4j.mindmap.explore.asked_in_chinese import paths_in_chinese
from kgp_neo4j.mindmap.explore.path_scorer import HOPS, Step, path_scores, read_question
from kgp_neo4j.mindmap.link.name_forms import Place, is_han
from kgp_neo4j.mindmap.load.graphs import StoredGraph
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.types.mindmap import EvidenceGraph, LinkedEntity, RelationPath, Triple
from kgp_neo4j.types.settings import MiningSettings

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
