"""Loads files or a stored graph into a knowledge graph: reads, writes and embeds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from kgp_neo4j.environment.files import find, size_on_disk
from kgp_neo4j.environment.progress import Progress, bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.adopt import read_stored
from kgp_neo4j.mindmap.load.embed import encoder_of_language, write_and_embed
from kgp_neo4j.mindmap.load.entity_tables import read_table
from kgp_neo4j.mindmap.load.gather import Gathered, checked_types, read_entity_types
from kgp_neo4j.mindmap.load.graph_names import Fact, Reading, checked_graph
from kgp_neo4j.mindmap.load.mapping import TableMapping, read_mapping
from kgp_neo4j.mindmap.load.triple_files import is_encoding, read_triples
from kgp_neo4j.mindmap.load.write_graph import GraphWriter
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.mindmap import GraphLoadReport

__all__ = ["adopt_graph", "load_graph", "load_triples"]


def load_graph(
    database: Database,
    paths: Iterable[str | Path],
    graph: str,
    *,
    mapping: TableMapping | str | Path | None = None,
    types: Mapping[str, tuple[str, str]] | None = None,
    entity_types: str | Path | None = None,
    encoding: str = "",
    encoder: str | None = None,
    keep_going: bool = False,
    embed: bool = True,
) -> GraphLoadReport:
    """Load files of triples, or tables with a mapping, into a knowledge graph.

    `mapping` is a TOML file or the name of one that comes with the package; `types` maps relations
    to the types of head and tail, `entity_types` is a file of names and types. All files are read
    before anything is written: the first bad line raises InputError and leaves the graph as it
    was; with `keep_going` bad lines are skipped and listed in the report. Loading again changes
    nothing, and finishes a load that was interrupted. `embed` gives each entity the embedding of
    its name, by `encoder` (default: the graph's own, else the offline one for its language).
    """
    began = time.monotonic()
    checked_graph(graph)
    if encoding and not is_encoding(encoding):
        raise ConfigurationError(f"{encoding!r} is no encoding", hint="Write gb18030, for example.")
    by_relation = checked_types(types)
    table = mapping if isinstance(mapping, TableMapping | None) else read_mapping(mapping)
    found = find(paths)
    if found.errors and not keep_going:
        raise found.errors[0]
    source = _Source(Gathered(graph), keep_going, list(map(str, found.errors)))
    files = 0
    with bar("read", sum(map(size_on_disk, found.files)), bytes_=True) as progress:
        by_key = (
            read_entity_types(Path(entity_types), progress, encoding=encoding)
            if entity_types is not None
            else {}
        )
        for path in found.files:
            files += source.read(_read(path, table, encoding, progress))
    source.gathered.decide_types(by_relation, by_key)
    return _write(database, graph, source, files, encoder, embed, began)


def adopt_graph(
    database: Database,
    graph: str,
    *,
    labels: Sequence[str],
    name_property: str,
    types: Mapping[str, tuple[str, str]] | None = None,
    encoder: str | None = None,
    keep_going: bool = False,
    embed: bool = True,
) -> GraphLoadReport:
    """Copy nodes of these labels, with the relationships between them, into a knowledge graph.

    `name_property` holds their names; the first of `labels` that a node has becomes its type. The
    nodes themselves are never changed or deleted. Raises ConfigurationError where the database has
    no such label or property; otherwise works as `load_graph` does.
    """
    began = time.monotonic()
    checked_graph(graph)
    by_relation = checked_types(types)
    if not labels:
        raise ConfigurationError("no label is given", hint="Say which nodes to take over.")
    source = _Source(Gathered(graph), keep_going, [])
    source.read(read_stored(database, graph, labels, name_property))
    source.gathered.decide_types(by_relation, {})
    return _write(database, graph, source, 0, encoder, embed, began)


def load_triples(
    database: Database,
    triples: Iterable[tuple[str | None, str | None, str | None]],
    graph: str,
    *,
    where: str = "triples",
    encoder: str | None = None,
    keep_going: bool = False,
    embed: bool = True,
) -> GraphLoadReport:
    """Load triples (head, relation, tail) from anywhere into a knowledge graph.

    Works as `load_graph` does; errors name a triple by `where` and its number, from 1.
    """
    began = time.monotonic()
    checked_graph(graph)
    source = _Source(Gathered(graph), keep_going, [])
    source.read(
        Fact(head or "", relation or "", tail or "", f"{where}:{number}")
        for number, (head, relation, tail) in enumerate(triples, 1)
    )
    source.gathered.decide_types({}, {})
    return _write(database, graph, source, 0, encoder, embed, began)


def _read(
    path: Path, mapping: TableMapping | None, encoding: str, progress: Progress
) -> Iterator[Reading]:
    if mapping is None:
        return read_triples(path, progress, encoding=encoding)
    return read_table(path, mapping, progress, encoding=encoding)


class _Source:
    """The entities and triples read so far, and the errors of lines that were skipped."""

    def __init__(self, gathered: Gathered, keep_going: bool, errors: list[str]) -> None:
        self.gathered = gathered
        self.errors = errors
        self._keep_going = keep_going

    def read(self, readings: Iterator[Reading]) -> bool:
        """Add what a reader yields; return whether there was no error."""
        faultless = True
        for reading in readings:
            try:
                if isinstance(reading, InputError):
                    raise reading
                self.gathered.add(reading)
            except InputError as error:
                if not self._keep_going:
                    raise _stopped(error) from error
                self.errors.append(str(error))
                faultless = False
        return faultless


def _write(
    database: Database,
    graph: str,
    source: _Source,
    files: int,
    encoder: str | None,
    embed: bool,
    began: float,
) -> GraphLoadReport:
    gathered = source.gathered
    if not gathered.entities:
        first = f" ({source.errors[0]})" if source.errors else ""
        raise InputError(f"there is no triple to load{first}", where=graph)
    writer = GraphWriter(database, graph)
    model = None
    if embed:
        # Imported here: it is slow, and needed only where names are embedded.
        from kgp_neo4j.models.encoder import load_encoder

        chosen = encoder or writer.encoder or encoder_of_language(gathered.names())
        model = load_encoder(chosen)
    with bar("entities", gathered.entities) as progress:
        writer.entities(gathered, progress)
    new = write_and_embed(database, graph, writer, gathered, model)
    writer.finish()
    database.read("install/await_indexes")
    (counts,) = database.read("load_kg/counts", graph=graph)
    relations = {row["name"]: row["count"] for row in counts["relations"]}
    return GraphLoadReport(
        graph=graph,
        files=files,
        triples=gathered.facts,
        duplicates=gathered.duplicates,
        skipped=gathered.skipped,
        new=new,
        entities=counts["entities"],
        relationships=sum(relations.values()),
        relations=relations,
        types={row["name"]: row["count"] for row in counts["types"] if row["name"]},
        embedded=counts["embedded"],
        errors=tuple(source.errors),
        seconds=round(time.monotonic() - began, 3),
    )


def _stopped(error: InputError) -> InputError:
    """Return the error with a hint on how to go on."""
    hint = "Nothing was written; --keep-going loads the rest without this."
    return InputError(
        error.what, where=error.where, hint=f"{error.hint} {hint}" if error.hint else hint
    )
