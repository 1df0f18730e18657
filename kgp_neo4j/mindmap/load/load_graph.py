"""Loads files or a stored graph into a knowledge graph: reads, writes and embeds."""

from __future__ import annotations

import time
import uuid
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypedDict, Unpack

import regex

from kgp_neo4j.environment.files import find, size_on_disk
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.gather import Gathered
from kgp_neo4j.mindmap.load.graph_files import read_entity_types, read_file
from kgp_neo4j.mindmap.load.graph_names import Fact, NamedEntity, Record, checked_graph, graph_scope
from kgp_neo4j.mindmap.load.graphs import discard_import
from kgp_neo4j.mindmap.load.mapping import is_encoding, read_mapping
from kgp_neo4j.mindmap.load.write_graph import embed_names, write_graph
from kgp_neo4j.models.pretrained import CHINESE_ENCODER, DEFAULT_ENCODER
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.mindmap import GraphLoadReport

__all__ = ["LoadOptions", "adopt_graph", "load_graph", "load_triples"]

_HAN = regex.compile(r"\p{Han}")
#: Letters of Japanese and Korean, which stand beside Han characters there.
_NOT_CHINESE = regex.compile(r"[\p{Hiragana}\p{Katakana}\p{Hangul}]")


class LoadOptions(TypedDict, total=False):
    """Options of every load.

    `types` maps relations to the types of head and tail. `embed` (true by default) gives each
    entity the embedding of its name, by `encoder` (default: the graph's own, else the offline one
    for its language). With `keep_going` bad records are skipped and listed in the report.
    """

    types: Mapping[str, tuple[str, str]] | None
    encoder: str | None
    keep_going: bool
    embed: bool


def load_graph(
    database: Database,
    paths: Iterable[str | Path],
    graph: str,
    *,
    mapping: str | Path | None = None,
    entity_types: str | Path | None = None,
    encoding: str = "",
    **options: Unpack[LoadOptions],
) -> GraphLoadReport:
    """Load files of triples, or tables with a mapping, into a knowledge graph.

    `mapping` is a TOML file or the name of one in the package; `entity_types` is a file of names
    and types. All files are read before anything is written: the first bad line raises InputError
    and leaves the graph as it was. Loading again changes nothing, and finishes a load that was
    interrupted.
    """
    if encoding and not is_encoding(encoding):
        raise ConfigurationError(f"{encoding!r} is no encoding", hint="Write gb18030, for example.")
    table = read_mapping(mapping) if mapping is not None else None
    sources = find(paths)
    types_by_key = {}
    if entity_types is not None:
        with bar("types", None) as progress:
            types_by_key = read_entity_types(Path(entity_types), progress, encoding=encoding)

    def records() -> Generator[Record, None, None]:
        yield from sources.errors
        with bar("read", sum(map(size_on_disk, sources.files)), bytes_=True) as progress:
            for path in sources.files:
                yield from read_file(path, progress, table, encoding=encoding)

    files = len(sources.files)
    return _load(database, graph, records(), files=files, types_by_key=types_by_key, **options)


def adopt_graph(
    database: Database,
    graph: str,
    *,
    labels: Sequence[str],
    name_property: str,
    **options: Unpack[LoadOptions],
) -> GraphLoadReport:
    """Copy nodes of these labels, with the relationships between them, into a knowledge graph.

    `name_property` holds their names; the first of `labels` that a node has becomes its type. Nodes
    without the property, and their relationships, are skipped. The nodes themselves are never
    changed or deleted. Raises ConfigurationError where the database has no such label or property;
    otherwise works as `load_graph` does.
    """
    (known,) = database.read("load_kg/known_names")
    asked = [("labels", label) for label in labels] + [("properties", name_property)]
    for kind, name in asked:
        if name not in known[kind]:
            raise ConfigurationError(
                f"the database has no {name!r} among its {kind}",
                hint=f"It has {', '.join(sorted(known[kind])[:20]) or 'none'}.",
            )
    where = f"({':'.join(labels)})"
    values = {"graph": graph, "labels": list(labels), "property": name_property}

    def records() -> Generator[Record, None, None]:
        for row in database.read("load_kg/adopted_nodes", **values):
            yield NamedEntity(row["name"] or "", f"{where} node {row['node']}", row["type"])
        for row in database.read("load_kg/adopted_relationships", **values):
            yield Fact(row["head"] or "", row["relation"], row["tail"] or "", where)

    return _load(database, graph, records(), **options)


def load_triples(
    database: Database,
    triples: Iterable[tuple[str | None, str | None, str | None]],
    graph: str,
    *,
    where: str = "triples",
    **options: Unpack[LoadOptions],
) -> GraphLoadReport:
    """Load triples (head, relation, tail) from anywhere into a knowledge graph.

    Works as `load_graph` does; errors name a triple by `where` and its number, from 1.
    """
    facts = (
        Fact(head or "", relation or "", tail or "", f"{where}:{number}")
        for number, (head, relation, tail) in enumerate(triples, 1)
    )
    return _load(database, graph, facts, **options)


def _load(
    database: Database,
    graph: str,
    records: Generator[Record, None, None],
    *,
    files: int = 0,
    types_by_key: Mapping[str, str] | None = None,
    **options: Unpack[LoadOptions],
) -> GraphLoadReport:
    gathered, load = Gathered(checked_graph(graph)), uuid.uuid4().hex
    with closing(records):  # ends the progress bar of reading also after an error
        gathered.read(records, keep_going=options.get("keep_going", False))
    gathered.decide_types(options.get("types") or {}, types_by_key or {})
    if not gathered.entities:
        first = f" ({gathered.errors[0]})" if gathered.errors else ""
        raise InputError(f"there is no triple to load{first}", where=graph)
    discard_import(database, graph)
    (begun,) = database.write("load_kg/begin", graph=graph, scope=graph_scope(graph), load=load)
    encoder = None
    if options.get("embed", True):
        # Imported here: it is slow, and needed only where names are embedded.
        from kgp_neo4j.models.encoder import load_encoder

        name = options.get("encoder") or begun["encoder"]
        names = (entity.name for entity in gathered.entities.values())
        encoder = load_encoder(name or _encoder_of_language(names))
    new = write_graph(database, gathered, load)
    if encoder is not None:
        embed_names(database, graph, encoder)
    database.write("load_kg/finish", graph=graph, load=load)
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
        errors=tuple(gathered.errors),
        seconds=round(time.monotonic() - gathered.began, 3),
    )


def _encoder_of_language(names: Iterable[str]) -> str:
    """Return the offline encoder for names: the Chinese one where most have Han characters."""
    chinese = [bool(_HAN.search(name) and not _NOT_CHINESE.search(name)) for name in names]
    return CHINESE_ENCODER if 2 * sum(chinese) > len(chinese) else DEFAULT_ENCODER
