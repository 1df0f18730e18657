"""Merges the reasoning paths of an answer into one tree of visits, shared steps once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kgp_neo4j.types.corpus import Answer, ReasoningPath, Step

#: The edges of steps without a relationship: found by search, or given with the question.
SEED, GIVEN = "seed", "given"


@dataclass(frozen=True, slots=True)
class Visit:
    """One passage visited: its place in the order, and the visits that led to it.

    Visits are counted from 1, hop by hop and the best first; `path` has their numbers from the seed
    to this one. `rank` is the passage's place among those retrieved, from 1, if a path ends here.
    """

    order: int
    path: tuple[int, ...]
    step: Step
    rank: int | None = None

    @property
    def hop(self) -> int:
        """How many edges lead from the seed to here; 0 for a seed."""
        return len(self.path) - 1

    @property
    def before(self) -> int | None:
        """The number of the visit before this one."""
        return self.path[-2] if len(self.path) > 1 else None


def visits(answer: Answer) -> tuple[Visit, ...]:
    """Return the visits of an answer, in order; passages without a path are `given`."""
    ended = {path.last for path in answer.paths}
    without_path = [
        ReasoningPath((Step(passage.id, GIVEN, passage.score),))
        for passage in answer.passages
        if passage.id not in ended
    ]
    ranks = {passage.id: rank for rank, passage in enumerate(answer.passages, 1)}
    paths = [path.steps for path in (*answer.paths, *without_path)]
    # A visit is identified by all steps to it; the nearest to the seeds come first.
    deepest = max(map(len, paths), default=0)
    begun = (steps[:n] for n in range(1, deepest + 1) for steps in paths if n <= len(steps))
    visited: dict[tuple[Step, ...], Visit] = {}
    for order, steps in enumerate(dict.fromkeys(begun), 1):
        before = visited[steps[:-1]].path if len(steps) > 1 else ()
        rank = ranks.get(steps[-1].passage) if steps in paths else None
        visited[steps] = Visit(order, (*before, order), steps[-1], rank)
    return tuple(visited.values())


def to_answer(answer: Answer, all_visits: Sequence[Visit]) -> set[int]:
    """Return the numbers of the visits that led to the passages an answer rests on."""
    ends = [v for v in all_visits if v.rank is not None and v.step.passage in answer.rests_on]
    return {order for visit in ends for order in visit.path}


def chosen(
    all_visits: Sequence[Visit], most: int, first: Collection[str] = ()
) -> tuple[list[Visit], int]:
    """Return whole paths, to `first` and then by rank, of `most` visits; count those left out."""
    ends = [visit for visit in all_visits if visit.rank is not None]
    orders: set[int] = set()
    for visit in sorted(ends, key=lambda end: (end.step.passage not in first, end.rank)):
        if len(orders.union(visit.path)) <= most:
            orders.update(visit.path)
    shown = [visit for visit in all_visits if visit.order in orders]
    left = {visit.step.passage for visit in all_visits} - {visit.step.passage for visit in shown}
    return shown, len(left)
