"""Algorithm 1 of KGP to the letter: queues of reasoning paths and of candidate neighbours.

What the paper leaves open: passages are counted once each, the budget is never exceeded (line 11
stops one passage later), and words are compared by BM25, the database's full-text score, in the
place of TF-IDF.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from kgp_neo4j.corpus.seed import seed_steps
from kgp_neo4j.corpus.traverse.hops import tell_hop
from kgp_neo4j.environment.spans import span
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.types.corpus import NextEvidence, ReasoningPath, Step
from kgp_neo4j.types.settings import TraversalSettings

if TYPE_CHECKING:
    from kgp_neo4j.corpus.traverse.algorithm import NextEvidenceAgent

__all__ = ["paper_walk"]


def paper_walk(
    database: Database,
    corpus: str,
    question: str,
    agent: NextEvidenceAgent,
    settings: TraversalSettings,
) -> list[ReasoningPath]:
    """Return one reasoning path to each retrieved passage, in the order of the visits.

    Seeds come from full text alone, and neighbours over the one edge type of the settings. The
    earliest path is taken from the queue and visits its best `branching` neighbours that nobody
    visited, until the budget is spent or the queue is empty; nothing is filled up from the search.
    The candidates of all waiting paths come by one call of the database.
    """
    rows = database.read(
        "procedures/seeds",
        question=question,
        corpus=corpus,
        limit=min(settings.seeds, settings.budget),
    )
    queue = deque(ReasoningPath((step,)) for step in seed_steps(rows, "words"))
    visited = {path.last: path for path in queue}
    hop = 0
    tell_hop(hop, queue)
    while queue and len(visited) < settings.budget:
        waiting = list(queue)
        hop += 1
        with span("hop", number=hop):
            candidates = _candidates(database, corpus, question, agent, settings, waiting, visited)
        for at, path in enumerate(waiting):
            queue.popleft()
            new = [row for row in candidates[at] if row["passage"] not in visited]
            for row in new[: min(settings.branching, settings.budget - len(visited))]:
                step = Step(row["passage"], settings.edges[0], row["match"], reason=row["reason"])
                visited[step.passage] = path.then(step)
                queue.append(visited[step.passage])
        tell_hop(hop, queue)
    return list(visited.values())


def _candidates(
    database: Database,
    corpus: str,
    question: str,
    agent: NextEvidenceAgent,
    settings: TraversalSettings,
    waiting: list[ReasoningPath],
    visited: dict[str, ReasoningPath],
) -> dict[int, list[Row]]:
    """Return the candidate neighbours of each waiting path, best first.

    As many as all these paths may visit: the earlier ones may take those that a later one ranks
    first.
    """
    expected = agent.expect(database, question, waiting)
    found = database.read(
        "traverse/paper_hop",
        corpus=corpus,
        edge=settings.edges[0],
        frontier=[
            {"passage": path.last, **_compared(agent, evidence)}
            for path, evidence in zip(waiting, expected, strict=True)
        ],
        visited=list(visited),
        most=settings.branching * len(waiting),
    )
    rows = defaultdict(list)
    for row in found:
        rows[row["path"]].append(row)
    return rows


def _compared(agent: NextEvidenceAgent, evidence: NextEvidence) -> dict[str, object]:
    """Return what neighbours are compared with: words of a text that was written, else a vector."""
    vector = [] if agent.writes_text else list(evidence.vector or ())
    return {
        "text": "" if vector else evidence.text,
        "vector": vector,
        "space": evidence.space,
        "draw": evidence.draw,
    }
