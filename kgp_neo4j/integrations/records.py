"""Results as plain values: passages with how they were found, and answers from tables."""

from collections.abc import Iterator
from typing import Any

from kgp_neo4j.text.safe import parts
from kgp_neo4j.types.corpus import Answer, Passage, Retrieval
from kgp_neo4j.types.tables import StructuralAnswer

_FIELDS = "id title name section document source page recognised position start end score".split()
#: Cells and pages that are listed for one answer.
_CITATIONS = 50


def described(result: Retrieval | Answer) -> Iterator[tuple[Passage, dict[str, Any]]]:
    """Yield the passages, best first, each as a dictionary of plain values.

    `rank` counts from 1; `title` is the document's, `name` the same told apart from others,
    `section` the headings above the passage, empty where there are none; `document` is an id,
    `source` its file or data set; `page` counts from 1 (None without pages), and `recognised` is
    true where its text was recognised on a picture; `position` counts passages of the document from
    0, `start` and `end` its characters. `path` is the names from the seed to the passage, `edges`
    what joins them, `reason` how the last step was found.
    """
    titles = {passage.id: passage.name for passage in result.passages}
    paths = {path.last: path.steps for path in result.paths}
    for rank, passage in enumerate(result.passages, 1):
        steps = paths.get(passage.id, ())
        yield (
            passage,
            {
                "rank": rank,
                **parts(passage, *_FIELDS),
                # A path may pass a passage that the budget has left out of the result.
                "path": [titles.get(step.passage, step.passage) for step in steps],
                "edges": [step.edge for step in steps[1:]],
                "reason": steps[-1].reason if steps else "",
            },
        )


def structural_record(answer: StructuralAnswer | None) -> dict[str, Any] | None:
    """Return an answer from pages and tables without its queries, where there is one."""
    if answer is None:
        return None
    names = ("text", "values", "sure", "found", "doubt", "reading", "confidence", "markdown")
    return parts(answer, *names) | {"citations": answer.citations[:_CITATIONS]}
