"""Stage one for knowledge graphs: triples become entities and relationships, and leave again."""

from kgp_neo4j.load.triples.graphs import delete_graph, graphs, require_graph
from kgp_neo4j.load.triples.loading import adopt_graph, load_graph
from kgp_neo4j.load.triples.mapping import built_in
from kgp_neo4j.load.triples.types import parse_type

__all__ = [
    "adopt_graph",
    "built_in",
    "delete_graph",
    "graphs",
    "load_graph",
    "parse_type",
    "require_graph",
]
