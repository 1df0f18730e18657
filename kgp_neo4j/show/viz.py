"""The evidence of an answer for neo4j-viz: an interactive picture, in a notebook or as HTML.

neo4j-viz has a different licence (GPL-3.0) and is only used where it is installed: `pip install
"kgp-neo4j[viz]"`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.show.marks import rests_on
from kgp_neo4j.text.safe import cut, printable
from kgp_neo4j.types.corpus import Answer

if TYPE_CHECKING:
    from neo4j_viz import VisualizationGraph

__all__ = ["as_viz"]

_CAPTION, _TEXT = 30, 300
_PASSAGE, _MARKED, _DOCUMENT = "#b39ddb", "#fdd835", "#ffb74d"
_PATH = "#c62828"


def as_viz(database: Database, answer: Answer) -> VisualizationGraph:
    """Return the passages of an answer with their documents and edges for neo4j-viz.

    Yellow marks the passages that support the answer, red the edges of the reasoning paths.
    `.render()` gives HTML (some MB, with everything it needs). Raises ConfigurationError where
    neo4j-viz is not installed.
    """
    with needs("viz", "this picture"):
        from neo4j_viz import Node, Relationship, VisualizationGraph
    ranks = {passage.id: rank for rank, passage in enumerate(answer.passages, 1)}
    marked = rests_on(answer)
    walked = {
        frozenset((a.passage, b.passage)): b for p in answer.paths for a, b in pairwise(p.steps)
    }
    visited = [step.passage for path in answer.paths for step in path.steps]
    # The attributes from which neo4j-viz makes nodes and relationships, by their ids.
    nodes: dict[str, dict[str, Any]] = {}
    edges: dict[str, dict[str, Any]] = {}
    for row in database.read("procedures/show", nodes=list({*visited, *ranks})):
        for node in (row["node"], row["neighbour"]):
            nodes[node.element_id] = {
                "id": node.element_id,
                **_looks(node, ranks.get(node["id"]), node["id"] in marked),
            }
        edge = row["edge"]
        step = walked.get(frozenset((row["node"]["id"], row["neighbour"]["id"])))
        on_path = step is not None and step.edge == edge.type
        looks: dict[str, Any] = {"color": _PATH, "width": 4} if on_path and step else {}
        edges[edge.element_id] = dict(
            id=edge.element_id,
            source=edge.start_node.element_id,
            target=edge.end_node.element_id,
            caption=edge.type,
            properties={"reason": printable(step.reason)} if on_path and step else {},
            **looks,
        )
    return VisualizationGraph(
        [Node(**node) for node in nodes.values()], [Relationship(**edge) for edge in edges.values()]
    )


def _looks(node: Any, rank: int | None, rested_on: bool) -> dict[str, Any]:
    """Return the attributes with which a document or a passage is drawn."""
    if "Document" in node.labels:
        return {
            "caption": cut(node["title"], _CAPTION),
            "color": _DOCUMENT,
            "size": 12,
            "properties": {"title": printable(node["title"])},
        }
    return {
        "caption": cut(f"[{rank}] {node['title']}" if rank else node["title"], _CAPTION),
        "color": _MARKED if rested_on else _PASSAGE,
        "size": 24 if rested_on else 18,
        "properties": {"title": printable(node["title"]), "text": cut(node["text"], _TEXT)},
    }
