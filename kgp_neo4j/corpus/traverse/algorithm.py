"""Traverse the graph from seeds to the context budget, as KGP's Algorithm 1 does, in a beam."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from kgp_neo4j.corpus.seed import find_seeds
from kgp_neo4j.corpus.traverse.hops import tell_hop
from kgp_neo4j.corpus.traverse.paper import paper_walk
from kgp_neo4j.corpus.traverse.path_edges import read_passages
from kgp_neo4j.environment.spans import span
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.types.corpus import NextEvidence, Passage, ReasoningPath, Step
from kgp_neo4j.types.settings import TraversalSettings

__all__ = ["NextEvidenceAgent"]


class NextEvidenceAgent(ABC):
    """An agent that predicts the next evidence of every path of the beam (KGP, Eq. 1).

    Neighbours are ranked against it in the database: by words where only `text` is given, by
    cosine similarity where `vector` is. An agent that reads the passages it has visited (a
    generating one) sets `reads_passages`; otherwise their text is never fetched. One that writes
    text sets `writes_text`, for the paper's algorithm compares its words.
    """

    name: str
    reads_passages = False
    writes_text = False

    @abstractmethod
    def begin(self, question: str) -> NextEvidence:
        """Return the query of the seed search."""

    @abstractmethod
    def next_evidence(
        self,
        question: str,
        paths: Sequence[ReasoningPath],
        passages: Mapping[str, Passage],
    ) -> list[NextEvidence]:
        """Return the next evidence of each path; `passages` is empty unless `reads_passages`."""

    def expect(
        self, database: Database, question: str, paths: Sequence[ReasoningPath]
    ) -> list[NextEvidence]:
        """Return the next evidence of each path, whose passages are fetched where it reads them."""
        passages: dict[str, Passage] = {}
        if self.reads_passages:
            passages = read_passages(database, [s.passage for path in paths for s in path.steps])
        return self.next_evidence(question, paths, passages)

    def walk(
        self, database: Database, corpus: str, question: str, settings: TraversalSettings
    ) -> list[ReasoningPath]:
        """Return one reasoning path to each retrieved passage, the best passage first.

        The number of distinct passages never exceeds the budget, and no passage is visited twice.
        The paper's queues are processed generation by generation: one call of the database ranks
        the neighbours of all paths of a generation, a neighbour is assigned to the path that scores
        it best, and each path visits its best `branching`. Where a generation exceeds the budget,
        its best passages are visited. Further results of the seed search fill the rest of the
        budget. With the algorithm `paper`, Algorithm 1 is followed to the letter instead.
        """
        if settings.algorithm == "paper":
            return paper_walk(database, corpus, question, self, settings)
        found = find_seeds(
            database, corpus, self.begin(question), settings.budget, named=settings.named
        )
        starts = found[: min(settings.seeds, settings.budget)]
        visited = {step.passage: ReasoningPath((step,)) for step in starts}
        frontier = list(visited.values())
        tell_hop(0, frontier)
        for hop in range(settings.hops):
            # Each hop gets its share of the budget, so that something is left for the later ones.
            room = -(-(settings.budget - len(visited)) // (settings.hops - hop))
            if not frontier or room <= 0:
                break
            with span("hop", number=hop + 1):
                rows = _candidates(database, corpus, question, self, settings, frontier, visited)
            _improve(rows, frontier, visited)
            frontier = _choose(rows, frontier, visited, room)
            visited |= {path.last: path for path in frontier}
            tell_hop(hop + 1, frontier)
        ranked = sorted(visited.values(), key=lambda path: -path.steps[-1].score)
        rest = [ReasoningPath((step,)) for step in found if step.passage not in visited]
        return [*ranked, *rest][: settings.budget]


def _candidates(
    database: Database,
    corpus: str,
    question: str,
    agent: NextEvidenceAgent,
    settings: TraversalSettings,
    frontier: Sequence[ReasoningPath],
    visited: Mapping[str, ReasoningPath],
) -> list[Row]:
    """Return the neighbours of all paths that best match the agent's next evidence."""
    expected = agent.expect(database, question, frontier)
    return database.read(
        "traverse/next_evidence",
        corpus=corpus,
        frontier=[
            {
                "passage": path.last,
                "match": path.steps[-1].match,
                "text": evidence.text,
                "vector": list(evidence.vector or ()),
                "space": evidence.space,
                "draw": evidence.draw,
            }
            for path, evidence in zip(frontier, expected, strict=True)
        ],
        visited=list(visited),
        edges=list(settings.edges),
        branching=settings.branching,
        outward=settings.outward,
        inward=settings.inward,
    )


def _choose(
    rows: Sequence[Row],
    frontier: Sequence[ReasoningPath],
    visited: Mapping[str, ReasoningPath],
    room: int,
) -> list[ReasoningPath]:
    """Return the next generation: each path's best neighbours, at most `room` of them."""
    new = [row for row in rows if row["passage"] not in visited]
    return [frontier[row["path"]].then(_step(row, row["match"])) for row in new[:room]]


def _improve(
    rows: Sequence[Row],
    frontier: Sequence[ReasoningPath],
    visited: dict[str, ReasoningPath],
) -> None:
    """Replace the path to a visited passage where one over another passage scores higher."""
    for row in rows:
        known = visited.get(row["passage"])
        path = frontier[row["path"]]
        if known is None or any(step.passage == known.last for step in path.steps):
            continue
        step = _step(row, known.steps[-1].match)
        if step.score > known.steps[-1].score:
            visited[known.last] = path.then(step)


def _step(row: Row, match: float) -> Step:
    return Step(row["passage"], row["edge"], match, row["inherited"], row["reason"])
