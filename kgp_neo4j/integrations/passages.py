"""Convert passages for other tools: text, place, and how they were found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kgp_neo4j.types.corpus import Answer, Passage, Retrieval

__all__ = ["described"]


def described(result: Retrieval | Answer) -> Iterator[tuple[Passage, dict[str, Any]]]:
    """Yield the passages, best first, each as a dictionary of plain values.

    `rank` counts from 1; `title` is the document's, `section` the headings above the passage, empty
    where there are none; `document` is an id, `source` its file or data set; `page` counts from 1
    (None without pages), and `recognised` is true where its text was recognised on a picture;
    `position` counts passages of the document from 0, `start` and `end` its characters. `path` is
    the titles from the seed to the passage, `edges` what joins them, `reason` how the last step was
    found.
    """
    fields = (
        *("id", "title", "section", "document", "source", "page", "recognised"),
        *("position", "start", "end", "score"),
    )
    titles = {passage.id: passage.title for passage in result.passages}
    paths = {path.last: path for path in result.paths}
    for rank, passage in enumerate(result.passages, 1):
        record: dict[str, Any] = {"rank": rank}
        record |= {name: getattr(passage, name) for name in fields}
        steps = paths[passage.id].steps if passage.id in paths else ()
        # A path may pass a passage that the budget has left out of the result.
        record["path"] = [titles.get(step.passage, step.passage) for step in steps]
        record["edges"] = [step.edge for step in steps[1:]]
        record["reason"] = (steps[-1].signals or steps[-1].reason) if steps else ""
        yield passage, record
