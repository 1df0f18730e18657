"""Aggregation: evidence graphs become one reasoning graph, in routes.

MindMap (section 3.2) has a model do this; here names and embeddings do, and the model of step III
sees the result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import regex

from kgp_neo4j.mindmap.link.name_forms import content_stems, forms, is_han, name_words
from kgp_neo4j.types.mindmap import EvidenceGraph, Triple

__all__ = ["merge_names", "readable", "routes"]

#: Names of one type mean the same where the cosine of their embeddings reaches this.
_SAME = 0.95
_CAMEL = regex.compile(r"(?<=\p{Ll})(?=\p{Lu})")


def merge_names(entities: Sequence[Mapping[str, Any]], first: Sequence[str] = ()) -> dict[str, str]:
    """Return the duplicates among entities, each mapped to the name that represents it.

    Two names are duplicates when they have the same words in any form, when one is an alias of the
    other, or when they are of one type, their embeddings have a cosine of at least 0.95 and they
    have the same numbers and letters ("type 1" is not "type 2"). Names in `first` represent the
    others, then the shorter ones.
    """
    rank = {name: at for at, name in enumerate(first)}
    order = sorted(
        entities, key=lambda e: (rank.get(e["name"], len(rank)), len(e["name"]), e["name"])
    )
    by_words: dict[tuple[str, ...], Mapping[str, Any]] = {}
    representatives: list[Mapping[str, Any]] = []
    merged: dict[str, str] = {}
    for entity in order:
        names = (entity["name"], *(entity.get("aliases") or ()))
        keys = [_key(words) for words in (*map(name_words, names), *forms(entity["name"])[:1])]
        known = next((by_words[key] for key in keys if key in by_words), None)
        known = known or next((o for o in representatives if _mean_the_same(entity, o)), None)
        if known is None:
            representatives.append(entity)
            known = entity
        elif known["name"] != entity["name"]:
            merged[entity["name"]] = known["name"]
        for key in keys:
            by_words.setdefault(key, known)
    return merged


def _key(words: tuple[str, ...]) -> tuple[str, ...]:
    return words if is_han("".join(words)) else content_stems(words) or words


def _mean_the_same(entity: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    vector, other_vector = entity.get("embedding"), other.get("embedding")
    return (
        vector is not None
        and other_vector is not None
        and (entity.get("type") or "") == (other.get("type") or "")
        and float(np.dot(vector, other_vector)) >= _SAME
        # "Type 1" is not "type 2".
        and _marks(entity["name"]) == _marks(other["name"])
    )


def _marks(name: str) -> list[str]:
    """Return the short words of a name: numbers, letters, roman numerals ("type 1", "type 2")."""
    return sorted(w for w in name_words(name) if len(w) <= 3 or any(c.isdigit() for c in w))


def routes(evidence: Sequence[EvidenceGraph], merged: Mapping[str, str]) -> list[str]:
    """Return the evidence as routes, as the paper writes them (section 3.2).

    Paths in walking order, "Fatigue -> possible_disease -> Flu <- possible_disease <- Fever"; then
    neighbours, with what shares a relation in brackets: "(Fatigue, Nausea) -> possible_disease ->
    Liver problem".
    """
    lines = dict.fromkeys(_walk(each, merged) for each in evidence if each.kind == "path")
    facts: dict[tuple[str, str, str], None] = {}
    heads: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    tails: dict[tuple[str, str], list[str]] = defaultdict(list)
    for triple in (t for each in evidence if each.kind != "path" for t in each.triples):
        head, relation, tail = _fact(triple, merged)
        facts[head, relation, tail] = None
        heads[relation, tail][head] = None
    for head, relation, tail in facts:
        if len(heads[relation, tail]) == 1:
            tails[head, relation].append(tail)
    for head, relation, tail in facts:
        sharing = list(heads[relation, tail])
        ends = ([head], tails[head, relation]) if len(sharing) == 1 else (sharing, [tail])
        lines[f"{_several(ends[0])} -> {relation} -> {_several(ends[1])}"] = None
    return list(lines)


def _fact(triple: Triple, merged: Mapping[str, str]) -> tuple[str, str, str]:
    head, tail = (merged.get(name, name) for name in (triple.head, triple.tail))
    return head, triple.relation, tail


def _walk(path: EvidenceGraph, merged: Mapping[str, str]) -> str:
    at = path.entity
    line = merged.get(at, at)
    for triple in path.triples:
        forward = triple.head == at
        at = triple.tail if forward else triple.head
        arrow = "->" if forward else "<-"
        line += f" {arrow} {triple.relation} {arrow} {merged.get(at, at)}"
    return line


def _several(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def readable(relation: str) -> str:
    """Return a relation's name as words: `has_symptom` and `hasSymptom` as "has symptom"."""
    return " ".join(_CAMEL.sub(" ", relation.replace("_", " ")).lower().split())
