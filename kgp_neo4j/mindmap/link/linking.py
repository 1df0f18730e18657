"""Links a question to the entities of a knowledge graph that it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgp_neo4j.environment.question import check_question
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.link.extraction import extract
from kgp_neo4j.mindmap.link.matching import Match, Names, begin_alike, compound, inflected
from kgp_neo4j.mindmap.link.name_forms import (
    Phrase,
    content_stems,
    content_words,
    is_han,
    is_quantity,
    name_words,
    negated,
    phrases,
    rough_stem,
    spans,
)
from kgp_neo4j.mindmap.link.name_scorer import load_scorer, mention_features
from kgp_neo4j.mindmap.load.graph_names import key_of
from kgp_neo4j.models.encoder import Encoder, embed, load_encoder
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
from kgp_neo4j.text.words import MAX_WORD
from kgp_neo4j.types.errors import GraphError
from kgp_neo4j.types.mindmap import LinkedEntity
from kgp_neo4j.types.settings import LinkSettings

__all__ = ["KnownGraph", "graph_and_encoder", "link"]

#: Phrases that are embedded for one question.
_EMBEDDED = 24
_LONGEST_EMBEDDED = 5
#: Most terms of the full-text query, far below Lucene's limit of clauses.
_TERMS = 200
#: Least letters of a stem that is searched as a prefix.
_PREFIX = 4
_ALTERNATIVES = 3
#: Least similarity of a name with more words than the phrase: it may name a narrower thing.
_NARROWER = 0.93
#: Least similarity of words that only begin alike ("osteochondroma", "osteochondrosis"): they share
#: word pieces, so that their embeddings are near.
_LOOK_ALIKE = 0.87
_FAR_AHEAD = 0.11
#: Least similarity of a name that is listed as an alternative.
_WORTH_SHOWING = 0.5


def link(
    database: Database,
    graph: str,
    question: str,
    settings: LinkSettings | None = None,
    write: Callable[[str], str] | None = None,
    known: KnownGraph | None = None,
) -> list[LinkedEntity]:
    """Return the entities of a graph that a question names, in the question's order.

    With a model to `write`, it extracts the mentions by in-context examples, and each is linked to
    its nearest entity (MindMap, section 3.1); a mention too far from all entities has no id.
    Without a model, or when its reply is unusable, the question's phrases are matched with the
    graph's names and aliases in any word form, longest first, and the remaining ones by embeddings.
    Where nothing is linked, the nearest phrases are returned without an id, with alternatives.
    `known` is what was read of the graph before, if it was.
    Raises GraphError without the graph, ConfigurationError for a question that is too
    long or not Unicode.
    """
    check_question(question)
    chosen = settings or LinkSettings()
    linker = _Linker(database, graph, chosen, known or graph_and_encoder(database, graph))
    if write is not None and (named := extract(question, write)):
        linked = linker.extracted(named)
        if any(each.id for each in linked):
            return linked
    return linker.matched(question)


@dataclass(frozen=True, slots=True)
class KnownGraph:
    """The encoder of a knowledge graph's embeddings, if it has any, its relationship types, and a
    sample of its names.
    """

    encoder: Encoder | None
    relations: tuple[str, ...]
    names: tuple[str, ...]


def graph_and_encoder(database: Database, graph: str) -> KnownGraph:
    """Return a knowledge graph's encoder and relations; raises GraphError without the graph."""
    found = database.read("explore/graph", graph=graph)
    if not found:
        raise GraphError(
            f"there is no knowledge graph {graph!r}",
            hint="`kgp-neo4j corpora` lists them; `kgp-neo4j load-kg FILE --graph NAME` makes one.",
        )
    name = found[0]["encoder"]
    return KnownGraph(
        load_encoder(name) if name else None,
        tuple(found[0]["relations"]),
        tuple(found[0]["names"]),
    )


class _Linker:
    def __init__(
        self, database: Database, graph: str, settings: LinkSettings, known: KnownGraph
    ) -> None:
        self.database = database
        self.graph = graph
        self.settings = settings
        self.known = known
        self.encoder = known.encoder

    def matched(self, question: str) -> list[LinkedEntity]:
        """Link the phrases of a question by name, and the remaining ones by embedding."""
        mentions = phrases(question)
        matches = Names(self._candidates(mentions, question)).match(mentions)
        accepted, refused = self._by_embedding(mentions, matches, question)
        found = [(match.phrase, match.linked()) for match in matches] + accepted
        found, unlikely = self._likely_names(question, found)
        if not found:
            return (unlikely + refused)[:_ALTERNATIVES]  # with the nearest names as alternatives
        found.sort(key=lambda pair: pair[0].place)
        best: dict[str, LinkedEntity] = {}
        for _, entity in found:
            known = best.get(entity.id)
            if known is None or entity.score > known.score:
                # Assignment keeps the key's position, that of the first mention.
                best[entity.id] = entity
        return list(best.values())[: self.settings.entities]

    def _likely_names(
        self, question: str, found: Sequence[tuple[Phrase, LinkedEntity]]
    ) -> tuple[list[tuple[Phrase, LinkedEntity]], list[LinkedEntity]]:
        """Return what is likely to be a name, and the rest without an entity."""
        placed = [pair for pair in found if pair[0].places and not is_han(pair[0].text)]
        if self.encoder is None or not placed:
            return list(found), []
        relations = embed(self.encoder, [readable(name) for name in self.known.relations])
        texts = embed(self.encoder, [phrase.text.casefold() for phrase, _ in placed])
        near = (texts @ relations.T).max(axis=1, initial=0.0)
        rows = mention_features(
            self.encoder,
            question,
            [phrase.places[0] for phrase, _ in placed],
            self.known.names,
            near.tolist(),
        )
        likely = load_scorer().likely(rows)
        refused = {
            phrase.words for (phrase, _), name in zip(placed, likely, strict=True) if not name
        }
        unlikely = [
            LinkedEntity(phrase.text, by=entity.by, alternatives=((entity.name, entity.score),))
            for phrase, entity in found
            if phrase.words in refused
        ]
        return [pair for pair in found if pair[0].words not in refused], unlikely

    def extracted(self, named: Sequence[str]) -> list[LinkedEntity]:
        """Link the names that a model extracted."""
        mentions = [Phrase(name, name_words(name), ((0, len(name)),)) for name in named]
        mentions = [phrase for phrase in mentions if phrase.words]
        names = Names(self._candidates(mentions, " . ".join(named)))
        whole = {p.text: found[0] for p in mentions if (found := names.match([p]))}
        near = self._nearest([phrase for phrase in mentions if phrase.text not in whole])
        linked: dict[str, LinkedEntity] = {}
        for phrase in mentions:
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

    def _candidates(self, mentions: Sequence[Phrase], text: str) -> list[Row]:
        return self.database.read(
            "explore/named_entities",
            graph=self.graph,
            keys=sorted({key_of(phrase.text) for phrase in mentions}),
            terms=" ".join(_terms(text)),
        )

    def _by_embedding(
        self, mentions: Sequence[Phrase], matches: Sequence[Match], question: str
    ) -> tuple[list[tuple[Phrase, LinkedEntity]], list[LinkedEntity]]:
        """Return the linked entities with their phrases, and the nearest phrases not linked."""
        used = {word for match in matches for word in content_words(match.phrase.words)}
        rest = [
            p
            for p in mentions
            if p.plain and p.places and not p.whole and self._can_embed(p) and not used & {*p.words}
        ]
        near = self._nearest(rest[:_EMBEDDED])
        question_stems = {rough_stem(word) for run in spans(question) for word, _, _ in run}
        ranked = [(phrase, near[phrase.text]) for phrase in rest if near.get(phrase.text)]
        ranked.sort(key=lambda each: (-each[1][0]["score"], each[0].text))
        found = []
        refused: list[tuple[Phrase, Sequence[Row]]] = []
        for phrase, rows in ranked:
            if not self._accepts(phrase, rows, question_stems):
                refused.append((phrase, rows))
            elif not used & (words := content_words(phrase.words)):
                used |= words
                found.append((phrase, _linked(phrase, rows, "embedding")))
        return found, _suggestions(refused)

    def _can_embed(self, phrase: Phrase) -> bool:
        if is_han(phrase.text):
            # The default encoder was not trained on Chinese.
            known = self.encoder is not None and self.encoder.name != DEFAULT_ENCODER
            return known and 2 <= len(phrase.words) <= 8 and not is_quantity(phrase.text)
        return len(phrase.words) <= _LONGEST_EMBEDDED and len(phrase.text) > 2

    def _accepts(self, phrase: Phrase, rows: Sequence[Row], question_stems: set[str]) -> bool:
        score = float(rows[0]["score"])
        ahead = score - (float(rows[1]["score"]) if len(rows) > 1 else 0.0)
        phrase_stems = {*content_stems(phrase.words)}
        name_stems = {*content_stems(name_words(rows[0]["name"]))}
        needed = self.settings.threshold
        if phrase_stems & name_stems:
            if name_stems - phrase_stems - question_stems or (
                len(phrase_stems) == 1 and name_stems != phrase_stems
            ):
                return score >= (_NARROWER if len(name_stems) > len(phrase_stems) else _LOOK_ALIKE)
            needed += 0.05 if len(phrase_stems) > 1 else 0.0
        elif compound(phrase_stems, name_stems):
            return score >= _NARROWER
        elif begin_alike(phrase_stems, name_stems) and not inflected(phrase_stems, name_stems):
            return score >= _LOOK_ALIKE
        elif len(phrase_stems) == 1 < len(name_stems):
            needed += 0.05
        if score >= needed:
            return ahead >= self.settings.margin or score >= _LOOK_ALIKE
        # A name far ahead of all others may score lower: few write "insomnia" for bad sleep.
        return ahead >= _FAR_AHEAD and score >= needed - (0.17 if len(phrase_stems) > 1 else 0.05)

    def _nearest(self, mentions: Sequence[Phrase]) -> dict[str, list[Row]]:
        if not mentions or self.encoder is None:
            return {}
        vectors = self.encoder.encode([phrase.text for phrase in mentions])
        rows = self.database.read(
            "explore/nearest_entities",
            graph=self.graph,
            phrases=[
                {"text": phrase.text, "vector": vector.tolist()}
                for phrase, vector in zip(mentions, vectors, strict=True)
            ],
            limit=_ALTERNATIVES + 1,
        )
        near: dict[str, list[Row]] = {}
        for row in rows:
            near.setdefault(row["phrase"], []).append(row)
        for phrase in mentions:
            if negated(phrase.words) and phrase.text in near:
                phrase_stems = {*content_stems(phrase.words)}
                # "Can't sleep" does not mean "sleepiness", however near the two are.
                near[phrase.text] = [
                    row
                    for row in near[phrase.text]
                    if not phrase_stems & (name_stems := {*content_stems(name_words(row["name"]))})
                    and not begin_alike(phrase_stems, name_stems)
                ]
        return near


def _suggestions(refused: Sequence[tuple[Phrase, Sequence[Row]]]) -> list[LinkedEntity]:
    """Return the first phrases that share no word, without an entity but with alternatives."""
    used: set[str] = set()
    distinct: list[LinkedEntity] = []
    for phrase, rows in refused:
        words = {*content_words(phrase.words)}
        if (
            rows[0]["score"] >= _WORTH_SHOWING
            and len(distinct) < _ALTERNATIVES
            and not used & words
        ):
            used |= words
            others = tuple((row["name"], round(row["score"], 3)) for row in rows[:_ALTERNATIVES])
            distinct.append(LinkedEntity(phrase.text, by="embedding", alternatives=others))
    return distinct


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
    """Return the terms of a full-text query: words, prefixes, and pairs of Chinese characters."""
    terms: dict[str, None] = {}
    for run in spans(text):
        words = [word for word, _, _ in run]
        for at, word in enumerate(words):
            if is_han(word):
                if at + 1 < len(words) and is_han(words[at + 1]):
                    terms[word + words[at + 1]] = None
                continue
            for part in word.split("'"):
                if content_words([part]):
                    terms[part] = None
                    # The index does not stem: a prefix makes "weak" find "weakness".
                    if _PREFIX <= len(stem := rough_stem(part)) <= MAX_WORD:
                        terms[f"{stem}*^0.2"] = None
    return list(terms)[:_TERMS]
