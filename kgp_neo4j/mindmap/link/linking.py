"""Entity linking: from a question to the entities of a knowledge graph that it is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.mindmap.link.extraction import extract
from kgp_neo4j.mindmap.link.matching import Match, Names, begin_alike, compound, inflected
from kgp_neo4j.mindmap.link.name_forms import (
    Phrase,
    alike,
    content,
    is_han,
    meant,
    name_words,
    negated,
    phrases,
    spans,
)
from kgp_neo4j.mindmap.load.graph_names import key_of
from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.text.words import MAX_WORD
from kgp_neo4j.types.errors import ConfigurationError, GraphError
from kgp_neo4j.types.mindmap import LinkedEntity
from kgp_neo4j.types.settings import LinkSettings

__all__ = ["KnownGraph", "graph_and_encoder", "link"]

#: Phrases that are embedded for one question.
_EMBEDDED = 24
_LONGEST_EMBEDDED = 5
#: Terms of the full-text query, far below Lucene's limit of clauses.
_TERMS = 200
#: Letters that a stem must have, to be looked up as the beginning of words.
_PREFIX = 4
_ALTERNATIVES = 3
#: A name that adds words to those of the question is a narrower thing: only all but the same links.
_NARROWER = 0.93
#: Names that look alike but share no word ("osteochondroma", "osteochondrosis") are near in meaning
#: for the encoder's word pieces' sake.
_LOOK_ALIKE = 0.87
_FAR_AHEAD = 0.11
#: A name further away than this is no alternative.
_WORTH_SHOWING = 0.5


def link(
    database: Database,
    graph: str,
    question: str,
    settings: LinkSettings | None = None,
    write: Callable[[str], str] | None = None,
) -> list[LinkedEntity]:
    """Return the entities of a graph that a question names, in the question's order.

    With a model to `write`, it extracts them by in-context examples, and each is linked to its
    nearest entity (MindMap, section 3.1); what is too far from all has no id. Without one, or when
    its reply cannot be used, the graph's names and aliases are matched with the question's phrases,
    longest first, in any word form, and then what is left by embeddings; where nothing is linked,
    the phrases that came nearest are returned without an id, with their alternatives.
    Raises GraphError without the graph, ConfigurationError for text that is not Unicode.
    """
    if not is_storable(question):
        raise ConfigurationError("the question is not valid Unicode", hint="Use UTF-8.")
    chosen = settings or LinkSettings()
    linker = _Linker(database, graph, chosen, graph_and_encoder(database, graph).encoder)
    if write is not None and (named := extract(question, write)):
        linked = linker.extracted(named)
        if any(each.id for each in linked):
            return linked
    return linker.matched(question)


@dataclass(frozen=True, slots=True)
class KnownGraph:
    """What a knowledge graph was embedded with, if it was, and the relationship types there are."""

    encoder: Encoder | None
    relations: tuple[str, ...]


def graph_and_encoder(database: Database, graph: str) -> KnownGraph:
    """Look a knowledge graph up; raises GraphError when there is no such one."""
    found = database.read("explore/graph", graph=graph)
    if not found:
        raise GraphError(
            f"there is no knowledge graph {graph!r}",
            hint="`kgp-neo4j corpora` lists them; `kgp-neo4j load-kg FILE --graph NAME` makes one.",
        )
    name = found[0]["encoder"]
    return KnownGraph(load_encoder(name) if name else None, tuple(found[0]["relations"]))


class _Linker:
    def __init__(
        self, database: Database, graph: str, settings: LinkSettings, encoder: Encoder | None
    ) -> None:
        self.database = database
        self.graph = graph
        self.settings = settings
        self.encoder = encoder

    def matched(self, question: str) -> list[LinkedEntity]:
        """Return what the phrases of a question name."""
        told = phrases(question)
        names = Names(self._candidates(told, question))
        taken = names.match(told)
        found = [(match.place, match.linked()) for match in taken]
        accepted, refused = self._by_embedding(told, taken, question)
        found += accepted
        if not found:
            # Nobody is told that nothing was meant without what came nearest.
            return refused
        found.sort(key=lambda pair: pair[0])
        best: dict[str, LinkedEntity] = {}
        for _, entity in found:
            known = best.get(entity.id)
            if known is None or entity.score > known.score:
                # The place of the first stays.
                best[entity.id] = entity
        return list(best.values())[: self.settings.entities]

    def extracted(self, named: Sequence[str]) -> list[LinkedEntity]:
        """Return what a model's names are linked to."""
        told = [Phrase(name, name_words(name), ((0, len(name)),)) for name in named]
        told = [phrase for phrase in told if phrase.words]
        names = Names(self._candidates(told, " . ".join(named)))
        whole = {p.text: found[0] for p in told if (found := names.match([p]))}
        near = self._nearest([phrase for phrase in told if phrase.text not in whole])
        linked: dict[str, LinkedEntity] = {}
        for phrase in told:
            if phrase.text in whole:
                entity = whole[phrase.text].linked("model")
            else:
                entity = self._model_link(phrase, near.get(phrase.text, []))
            linked.setdefault(entity.id or f"?{phrase.text}", entity)
        return list(linked.values())[: self.settings.entities]

    def _model_link(self, phrase: Phrase, rows: Sequence[Row]) -> LinkedEntity:
        others = tuple((row["name"], round(row["score"], 3)) for row in rows)
        if not rows or rows[0]["score"] < self.settings.threshold - 0.1:
            return LinkedEntity(phrase.text, by="model", alternatives=others[:_ALTERNATIVES])
        return _linked(phrase, rows, "model")

    def _candidates(self, told: Sequence[Phrase], text: str) -> list[Row]:
        return self.database.read(
            "explore/named_entities",
            graph=self.graph,
            keys=sorted({key_of(phrase.text) for phrase in told}),
            terms=" ".join(_terms(text)),
        )

    def _by_embedding(
        self, told: Sequence[Phrase], taken: Sequence[Match], question: str
    ) -> tuple[list[tuple[int, LinkedEntity]], list[LinkedEntity]]:
        """Return what is linked, with its place; and the phrases that came near, not linked."""
        used = {word for match in taken for word in meant(match.phrase.words)}
        rest = [
            p for p in told if p.plain and p.places and self._embeds(p) and not used & {*p.words}
        ]
        near = self._nearest(rest[:_EMBEDDED])
        said = {alike(word) for run in spans(question) for word, _, _ in run}
        ranked = [(phrase, near[phrase.text]) for phrase in rest if near.get(phrase.text)]
        ranked.sort(key=lambda each: (-each[1][0]["score"], each[0].text))
        found = []
        refused: list[tuple[Phrase, Sequence[Row]]] = []
        for phrase, rows in ranked:
            if not self._accepts(phrase, rows, said):
                refused.append((phrase, rows))
            elif not used & (words := meant(phrase.words)):
                used |= words
                found.append((phrase.places[0][0], _linked(phrase, rows, "embedding")))
        return found, _apart(refused)

    def _embeds(self, phrase: Phrase) -> bool:
        if is_han(phrase.text):
            # The default encoder knows Chinese characters by sight only.
            known = self.encoder is not None and self.encoder.name != DEFAULT_ENCODER
            return known and 2 <= len(phrase.words) <= 8
        return len(phrase.words) <= _LONGEST_EMBEDDED and len(phrase.text) > 2

    def _accepts(self, phrase: Phrase, rows: Sequence[Row], said: set[str]) -> bool:
        score = float(rows[0]["score"])
        ahead = score - (float(rows[1]["score"]) if len(rows) > 1 else 0.0)
        mine, theirs = {*content(phrase.words)}, {*content(name_words(rows[0]["name"]))}
        needed = self.settings.threshold
        if mine & theirs:
            if theirs - mine - said or (len(mine) == 1 and theirs != mine):
                return score >= (_NARROWER if len(theirs) > len(mine) else _LOOK_ALIKE)
            needed += 0.05 if len(mine) > 1 else 0.0
        elif compound(mine, theirs):
            return score >= _NARROWER
        elif begin_alike(mine, theirs) and not inflected(mine, theirs):
            return score >= _LOOK_ALIKE
        elif len(mine) == 1 < len(theirs):
            needed += 0.05
        if score >= needed:
            return ahead >= self.settings.margin or score >= _LOOK_ALIKE
        # One that is far ahead of all others may be further away: nobody says "insomnia".
        return ahead >= _FAR_AHEAD and score >= needed - (0.17 if len(mine) > 1 else 0.05)

    def _nearest(self, told: Sequence[Phrase]) -> dict[str, list[Row]]:
        if not told or self.encoder is None:
            return {}
        vectors = self.encoder.encode([phrase.text for phrase in told])
        rows = self.database.read(
            "explore/nearest_entities",
            graph=self.graph,
            phrases=[
                {"text": phrase.text, "vector": vector.tolist()}
                for phrase, vector in zip(told, vectors, strict=True)
            ],
            limit=_ALTERNATIVES + 1,
        )
        near: dict[str, list[Row]] = {}
        for row in rows:
            near.setdefault(row["phrase"], []).append(row)
        for phrase in told:
            if negated(phrase.words) and phrase.text in near:
                mine = {*content(phrase.words)}
                # "Can't sleep" is anything but "sleepiness".
                near[phrase.text] = [
                    row
                    for row in near[phrase.text]
                    if not mine & (theirs := {*content(name_words(row["name"]))})
                    and not begin_alike(mine, theirs)
                ]
        return near


def _apart(refused: Sequence[tuple[Phrase, Sequence[Row]]]) -> list[LinkedEntity]:
    """Return the first few phrases that share no word, without an entity but with the nearest."""
    used: set[str] = set()
    made: list[LinkedEntity] = []
    for phrase, rows in refused:
        words = {*meant(phrase.words)}
        if rows[0]["score"] >= _WORTH_SHOWING and len(made) < _ALTERNATIVES and not used & words:
            used |= words
            others = tuple((row["name"], round(row["score"], 3)) for row in rows[:_ALTERNATIVES])
            made.append(LinkedEntity(phrase.text, by="embedding", alternatives=others))
    return made


def _linked(phrase: Phrase, rows: Sequence[Row], by: str) -> LinkedEntity:
    best = rows[0]
    return LinkedEntity(
        surface=phrase.text,
        id=best["id"],
        name=best["name"],
        type=best["type"],
        score=min(1.0, round(best["score"], 4)),
        by=by,
        alternatives=tuple((row["name"], round(row["score"], 3)) for row in rows[1:]),
    )


def _terms(text: str) -> list[str]:
    """Return what the full-text index is asked for: words, what begins as they do, and pairs of
    Chinese characters."""
    terms: dict[str, None] = {}
    for run in spans(text):
        words = [word for word, _, _ in run]
        for at, word in enumerate(words):
            if is_han(word):
                if at + 1 < len(words) and is_han(words[at + 1]):
                    terms[word + words[at + 1]] = None
                continue
            for part in word.split("'"):
                if meant([part]):
                    terms[part] = None
                    # The index knows no word forms: "weak" is to find "weakness".
                    if _PREFIX <= len(stem := alike(part)) <= MAX_WORD:
                        terms[f"{stem}*^0.2"] = None
    return list(terms)[:_TERMS]
