"""Aggregation: evidence graphs become one reasoning graph, in routes; names are compared.

MindMap (section 3.2) has a model do this; here names do, and step III's model sees the result.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import regex

from kgp_neo4j.mindmap.link.name_forms import content_stems, is_han, name_words
from kgp_neo4j.types.mindmap import EvidenceGraph

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
