"""Traverse the graph from seeds to the context budget: KGP's Algorithm 1, in a beam or verbatim.

Reasoning paths begin at seeds, and have the edges and passages that they visit.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, starmap
from random import Random
from typing import Any, ClassVar, Protocol

from kgp_neo4j.environment.job import tell
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.text.safe import parts
from kgp_neo4j.types.corpus import NextEvidence, Passage, ReasoningPath, Step
from kgp_neo4j.types.settings import TraversalSettings


def find_seeds(
    database: Database, corpus: str, begin: NextEvidence, limit: int, *, named: float
) -> list[Step]:
    """Return the seeds of a question, best first, as the first steps of reasoning paths.

    Full text, the vector where the agent gives one, and titles named in the question are fused by
    reciprocal rank; `named` is added to the score of a seed with a named title (0 ignores titles).
    """
    asked = {"question": begin.text, "vector": list(begin.vector or ()), "named": named}
    rows = database.read("traverse/hybrid_seeds", corpus=corpus, limit=limit, **asked)
    return seed_steps(rows)


def seed_steps(rows: Iterable[Row], reason: str = "") -> list[Step]:
    """Return passages of rows (passage, score, and reason unless it is given) as first steps."""
    # A passage deleted since the search has no properties any longer, and is left out.
    return [
        Step(row["passage"]["id"], "seed", row["score"], reason=reason or row["reason"])
        for row in rows
        if "id" in row["passage"]
    ]


def with_edges(
    database: Database, paths: Sequence[ReasoningPath], edges: Sequence[str]
) -> list[ReasoningPath]:
    """Return the paths with the edge and the reason of each step, by one call of the database."""
    pairs = {(a.passage, b.passage) for path in paths for a, b in pairwise(path.steps)}
    if not pairs:
        return list(paths)
    rows = database.read_packed(
        "traverse/path_edges", pairs=[list(pair) for pair in sorted(pairs)], edges=list(edges)
    )
    known = {(row["source"], row["target"]): (row["edge"], row["reason"]) for row in rows}

    def told(before: Step, step: Step) -> Step:
        edge, reason = known.get((before.passage, step.passage), ("MENTIONS", ""))
        return replace(step, edge=edge, reason=reason)

    return [ReasoningPath((path.steps[0], *starmap(told, pairwise(path.steps)))) for path in paths]


def read_passages(
    database: Database, ids: Iterable[str], corpus: str | None = None
) -> dict[str, Passage]:
    """Return the passages with these ids, if there; those from outside need a `corpus`, too."""
    rows = database.read_packed("inspect/passages", ids=list(dict.fromkeys(ids)), corpus=corpus)
    return {row["id"]: passage_of(row) for row in rows}


def passage_of(row: Row) -> Passage:
    """Return the passage of a row of `include/passage`."""
    return Passage(**row | {"columns": tuple(row["columns"])})


def tell_hop(hop: int, paths: Iterable[ReasoningPath]) -> None:
    """Tell who waits which passages a hop has reached (0: seeds); StoppedError if nobody does."""

    def reached(path: ReasoningPath) -> dict[str, object]:
        *before, last = path.steps
        came = before[-1].passage if before else None
        return {"passage": last.passage, "before": came, "score": round(last.score, 4)}

    tell("hop", lambda: {"hop": hop, "reached": list(map(reached, paths))})


class Agent(Protocol):
    """Walks the graph for a question: by Algorithm 1 (`NextEvidenceAgent`), or in its own way.

    One that is plugged in is made with the corpus's encoder and the settings of agents. It says
    which `graphs` of `connect` it needs (a corpus without them is refused), whether it
    `needs_encoder`, and whether it `takes_model` (the setting `model`).
    """

    name: str
    graphs: ClassVar[Sequence[str]] = ()
    needs_encoder: ClassVar[bool] = False
    takes_model: ClassVar[bool] = False

    @abstractmethod
    def begin(self, question: str) -> NextEvidence:
        """Return the query of the seed search."""

    @abstractmethod
    def walk(
        self, database: Database, corpus: str, question: str, settings: TraversalSettings
    ) -> list[ReasoningPath]:
        """Return one reasoning path to each retrieved passage, the best passage first."""


class NextEvidenceAgent(Agent):
    """An agent that predicts the next evidence of every path of the beam (KGP, Eq. 1).

    Neighbours are ranked against it in the database: by words where only `text` is given, by
    cosine similarity where `vector` is. An agent that reads the passages it has visited sets
    `reads_passages`, one that writes text `writes_text`: the paper's algorithm compares its words.
    """

    reads_passages = False
    writes_text = False

    @abstractmethod
    def next_evidence(
        self, question: str, paths: Sequence[ReasoningPath], passages: Mapping[str, Passage]
    ) -> list[NextEvidence]:
        """Return the next evidence of each path; `passages` is empty unless `reads_passages`."""

    def walk(
        self, database: Database, corpus: str, question: str, settings: TraversalSettings
    ) -> list[ReasoningPath]:
        """Return one reasoning path to each retrieved passage, the best passage first.

        The number of distinct passages never exceeds the budget, and no passage is visited twice.
        The paper's queues are processed generation by generation: one call of the database ranks
        the neighbours of all paths, a neighbour is assigned to the path that scores it best, and
        each path visits its best `branching`. Further results of the seed search fill the rest of
        the budget. With the algorithm `paper`, Algorithm 1 is followed to the letter instead.
        """
        if settings.algorithm == "paper":
            return self._walk_as_the_paper(database, corpus, question, settings)
        budget = settings.budget
        search = find_seeds(database, corpus, self.begin(question), budget, named=settings.named)
        starts = search[: min(settings.seeds, budget)]
        visited = {step.passage: ReasoningPath((step,)) for step in starts}
        frontier = list(visited.values())
        tell_hop(0, frontier)
        limits = parts(settings, "branching", "outward", "inward") | {"edges": [*settings.edges]}
        for hop in range(settings.hops):
            # Each hop gets its share of the budget, so that something is left for the later ones.
            room = -(-(budget - len(visited)) // (settings.hops - hop))
            if not frontier or room <= 0:
                break
            asked = {"frontier": self._expectations(database, question, frontier), **limits}
            asked["visited"] = list(visited)
            rows = database.read("traverse/next_evidence", corpus=corpus, **asked)
            _improve(rows, frontier, visited)
            new = [row for row in rows if row["passage"] not in visited][:room]
            frontier = [frontier[row["path"]].then(_step(row, row["match"])) for row in new]
            visited |= {path.last: path for path in frontier}
            tell_hop(hop + 1, frontier)
        ranked = sorted(visited.values(), key=lambda path: -path.steps[-1].score)
        rest = [ReasoningPath((step,)) for step in search if step.passage not in visited]
        return [*ranked, *rest][:budget]

    def _walk_as_the_paper(
        self, database: Database, corpus: str, question: str, settings: TraversalSettings
    ) -> list[ReasoningPath]:
        """Return the paths of Algorithm 1 to the letter, in the order of the visits.

        The earliest path of the queue visits its best `branching` neighbours that nobody visited,
        until the budget is spent or the queue is empty. What the paper leaves open: seeds come from
        full text alone, passages are counted once each, the budget is never exceeded (line 11 stops
        one passage later), and words are compared by BM25 in the place of TF-IDF. The candidates of
        all waiting paths come by one call of the database: as many as these may visit together,
        since the earlier ones may take those that a later one ranks first.
        """
        edge, seeds = settings.edges[0], min(settings.seeds, settings.budget)
        rows = database.read("procedures/seeds", question=question, corpus=corpus, limit=seeds)
        waiting = [ReasoningPath((step,)) for step in seed_steps(rows, "words")]
        visited = {path.last: path for path in waiting}
        tell_hop(0, waiting)
        hop = 0
        while waiting and len(visited) < settings.budget:
            hop += 1
            frontier = self._expectations(database, question, waiting, paper=True)
            asked = {"edge": edge, "visited": [*visited], "most": settings.branching * len(waiting)}
            rows = database.read("traverse/paper_hop", corpus=corpus, frontier=frontier, **asked)
            before = len(visited)
            for at, path in enumerate(waiting):
                own = (row for row in rows if row["path"] == at)
                new = [row for row in own if row["passage"] not in visited]
                for row in new[: min(settings.branching, settings.budget - len(visited))]:
                    step = Step(row["passage"], edge, row["match"], reason=row["reason"])
                    visited[step.passage] = path.then(step)
            waiting = list(visited.values())[before:]
            tell_hop(hop, waiting)
        return list(visited.values())

    def _expectations(
        self, database: Database, question: str, paths: Sequence[ReasoningPath], paper: bool = False
    ) -> list[dict[str, Any]]:
        """Return each path's last passage and next evidence: for the paper, text or a vector."""
        ids = [step.passage for path in paths for step in path.steps if self.reads_passages]
        passages = read_passages(database, ids) if ids else {}
        expected = self.next_evidence(question, paths, passages)
        steps = []
        for path, evidence in zip(paths, expected, strict=True):
            vector = [] if paper and self.writes_text else list(evidence.vector or ())
            text = "" if paper and vector else evidence.text
            draw = Random(evidence.draw).randrange(1, 2**31) if evidence.draw else 0
            expects = {"text": text, "vector": vector, "space": evidence.space, "draw": draw}
            steps.append({"passage": path.last, "match": path.steps[-1].match, **expects})
        return steps


def _improve(
    rows: Sequence[Row], frontier: Sequence[ReasoningPath], visited: dict[str, ReasoningPath]
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
