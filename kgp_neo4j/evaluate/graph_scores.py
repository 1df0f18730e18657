"""Score answers over a knowledge graph: what the evidence reaches, what an answer names."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from kgp_neo4j.evaluate.graph_questions import GraphQuestion, read_choice
from kgp_neo4j.evaluate.scores import Row, Run
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.aggregate import same
from kgp_neo4j.mindmap.link.name_forms import content_stems, name_words
from kgp_neo4j.mindmap.load.graph_names import key_of
from kgp_neo4j.mindmap.load.graphs import require_graph


class Holdings:
    """The names that a graph holds, found in any word form and in texts."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._keys: set[str] = set()
        self._stems: dict[tuple[str, ...], str] = {}
        #: The keys of names by the form in which names in texts are compared.
        self.known: dict[str, str] = {}
        for name in names:
            key = key_of(name)
            self._keys.add(key)
            self.known.setdefault(same(name), key)
            self._stems.setdefault(content_stems(name_words(name)), key)
        self._longest = max(map(len, self.known), default=0)

    @classmethod
    def of(cls, database: Database, graph: str) -> Self:
        """Return the names of a graph; raises GraphError where there is no such one."""
        require_graph(database, graph)
        return cls(row["name"] for row in database.read("explore/entities", graph=graph))

    def held(self, listed: Iterable[str]) -> set[str]:
        """Return the keys of the listed names that the graph has in any word form."""
        keys = set()
        for name in listed:
            stems = content_stems(name_words(name))
            if (key := key_of(name)) in self._keys:
                keys.add(key)
            elif stems and stems in self._stems:
                keys.add(self._stems[stems])
        return keys

    def named(self, text: str) -> list[str]:
        """Return the names that a text names, in the form that `same` makes: in order, each once.

        The longest name counts, not the shorter ones within it; Chinese ones are found within the
        text, others as whole words.
        """
        text, at = same(text), 0
        names: dict[str, None] = {}
        while at < len(text):
            ends = range(min(len(text), at + self._longest), at, -1)
            is_name = (e for e in ends if text[at:e] in self.known and _is_whole(text, at, e))
            if end := next(is_name, 0):
                names[text[at:end]] = None
            at = end or at + 1
        return list(names)

    def keys_named(self, text: str) -> set[str]:
        """Return the keys of the names that a text names."""
        return {self.known[name] for name in self.named(text)}

    def carried(self, answer: str, evidence: Iterable[str], question: str = "") -> float | None:
        """Return the share of an answer's names that evidence or question has (MindMap, section 4).

        1 minus it is hallucinated. None where the answer names none.
        """
        names = self.named(answer)
        supported = {same(name) for name in evidence} | set(self.named(question))
        return sum(name in supported for name in names) / len(names) if names else None


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether a span of a text is not part of a longer word in letters."""
    borders = (text[max(start - 1, 0) : start + 1], text[end - 1 : end + 1])
    return not any(len(p) == 2 and all(c.isalnum() and ord(c) < 0x2E80 for c in p) for p in borders)


def measure_answer(asked: GraphQuestion, row: Row, holdings: Holdings) -> dict[str, float]:
    """Return the measures of an answer, 0 to 1, and `seconds`; a missing line reaches nothing."""
    answer = str(row.get("answer") or "")
    measures: dict[str, float] = {}
    if asked.choice:
        choice = read_choice(answer, asked.options)
        outcome = "failed" if not choice else "right" if choice == asked.choice else "wrong"
        measures = {name: float(name == outcome) for name in ("right", "wrong", "failed")}
    names = [str(name) for t in row.get("triples") or () for name in (t[0], t[-1])]
    wanted = holdings.held(asked.answers)
    if wanted and ("triples" in row or not row):
        measures["coverage"] = len(wanted & set(map(key_of, names))) / len(wanted)
    if wanted and (row.get("first") is not None or not row):
        measures["hits@1"] = float(key_of(str(row.get("first") or "")) in wanted)
    if not asked.choice and holdings.known:
        carried = holdings.carried(answer, names, asked.text)
        if carried is not None and "triples" in row:
            measures["carried"] = carried
        if expected := holdings.keys_named(asked.reference) or wanted:
            measures["named"] = len(expected & holdings.keys_named(answer)) / len(expected)
    if isinstance(row.get("seconds"), int | float):
        measures["seconds"] = float(row["seconds"])
    return measures


def measure_linking(
    rows: Mapping[str, Row], questions: Sequence[GraphQuestion], holdings: Holdings
) -> Run:
    """Return how many entities were linked, and of those listed how many rightly."""
    measures: dict[str, dict[str, float]] = {}
    for asked in questions:
        row = rows[asked.id]
        linked = {key_of(each["name"]) for each in row["entities"] if each["id"]}
        measures[asked.id] = {"linked": float(len(linked)), "seconds": float(row["seconds"])}
        if asked.entities:
            listed = holdings.held(asked.entities)
            measures[asked.id] |= {"listed": len(listed), "right": len(linked & listed)}
    return Run(measures)
