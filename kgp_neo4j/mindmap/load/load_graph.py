"""Loads files or a stored graph into a knowledge graph: reads, writes and embeds."""

import time
import uuid
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypedDict, Unpack

import regex

from kgp_neo4j.environment.apart import Workers
from kgp_neo4j.environment.files import find, size_on_disk
from kgp_neo4j.environment.job import bar
from kgp_neo4j.graphdb.database import Database, Row, in_batches
from kgp_neo4j.mindmap.load.gather import Gathered
from kgp_neo4j.mindmap.load.graph_files import KINDS, RDF_KINDS, kind_of, read_mapping
from kgp_neo4j.mindmap.load.graph_names import Fact, NamedEntity, Record, checked_graph, graph_scope
from kgp_neo4j.mindmap.load.graphs import discard_import
from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.models.engine import token_id
from kgp_neo4j.models.pretrained import CHINESE_ENCODER, DEFAULT_ENCODER
from kgp_neo4j.types.errors import ConfigurationError, EncoderError, GraphError, InputError
from kgp_neo4j.types.mindmap import GraphLoadReport

#: Files may be made to hang or to crash what reads them.
_READERS = Workers("kgp_neo4j.mindmap.load.graph_files")
#: Starts what reads files, for who does something else before a load: it is ready sooner.
start_reading = _READERS.start
#: Rows of a transaction, and embeddings of one.
BATCH = 10_000
_EMBEDDED = 4_096
_HAN = regex.compile(r"\p{Han}")
#: Letters of Japanese and Korean, which stand beside Han characters there.
_NOT_CHINESE = regex.compile(r"[\p{Hiragana}\p{Katakana}\p{Hangul}]")


class LoadOptions(TypedDict, total=False):
    """Options of every load.

    `types` maps relations to the types of head and tail. `embed` (true by default) gives each
    entity the embedding of its name, by `encoder` (default: the graph's own, else the offline one
    for its language). With `keep_going` bad records are skipped and listed in the report. A text is
    no value where it is empty, or exactly one of `missing`.
    """

    types: Mapping[str, tuple[str, str]] | None
    encoder: str | None
    keep_going: bool
    embed: bool
    missing: Collection[str]


def load_graph(
    database: Database,
    paths: Iterable[str | Path],
    graph: str,
    *,
    mapping: str | Path | None = None,
    **options: Unpack[LoadOptions],
) -> GraphLoadReport:
    """Load files of triples, or tables with a mapping, into a knowledge graph.

    `mapping` is a TOML file or the name of one in the package. All files are read before anything
    is written: the first bad line raises InputError and leaves the graph as it was. Loading again
    changes nothing, and finishes a load that was interrupted.
    """
    table = read_mapping(mapping, options.get("missing", ())) if mapping is not None else None
    sources, named = find(paths := list(paths), KINDS), {Path(path).name for path in paths}
    # A folder has other files, too: a README, pictures, logs.
    files = [f for f in sources.files if f.name in named or kind_of(f) in KINDS]
    # What several files of RDF say of a thing belongs together.
    rdf = [f for f in files if kind_of(f) in RDF_KINDS] if table is None else []
    together = [[file] for file in files if file not in rdf] + ([rdf] if rdf else [])
    kind = list[Fact | NamedEntity]

    def records() -> Generator[Record, None, None]:
        yield from sources.errors
        with bar("read", sum(map(size_on_disk, files)), bytes_=True) as progress:
            for group in together:
                names = list(map(str, group))
                for given in _READERS.read(kind, group, progress, "read_apart", names, table):
                    yield from [given] if isinstance(given, InputError) else given

    return _load(database, graph, records(), files=len(files), **options)


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
    changed or deleted. Raises ConfigurationError where the database has no such label or property.
    """
    (known,) = database.read("load_kg/known_names")
    asked = [("labels", label) for label in labels] + [("properties", name_property)]
    for kind, name in asked:
        if name not in known[kind]:
            hint = f"It has {', '.join(sorted(known[kind])[:20]) or 'none'}."
            raise ConfigurationError(f"the database has no {name!r} among its {kind}", hint=hint)
    where = f"({':'.join(labels)})"
    values = {"graph": graph, "labels": list(labels), "property": name_property}

    def records() -> Generator[Record, None, None]:
        for row in database.read("load_kg/adopted_nodes", **values):
            yield NamedEntity(row["name"] or "", f"{where} node {row['node']}", row["type"])
        for row in database.read("load_kg/adopted_relationships", **values):
            yield Fact(row["head"] or "", row["relation"], row["tail"] or "", where)

    return _load(database, graph, records(), **options)


def _load(
    database: Database,
    graph: str,
    records: Generator[Record, None, None],
    *,
    files: int = 0,
    **options: Unpack[LoadOptions],
) -> GraphLoadReport:
    began, load = time.monotonic(), uuid.uuid4().hex
    gathered = Gathered(checked_graph(graph), options.get("missing", ()))
    with closing(records):  # ends the progress bar of reading also after an error
        gathered.read(records, keep_going=options.get("keep_going", False))
    gathered.decide_types(options.get("types") or {})
    if not gathered.entities:
        first = next((f" ({each})" for each in (*gathered.errors, *gathered.skipped)), "")
        raise InputError(f"there is no triple to load{first}", where=graph)
    discard_import(database, graph)
    (begun,) = database.write("load_kg/begin", graph=graph, scope=graph_scope(graph), load=load)
    encoder = None
    if options.get("embed", True):
        names = [entity.name for entity in gathered.entities.values()]
        chinese = sum(bool(_HAN.search(x) and not _NOT_CHINESE.search(x)) for x in names)
        # The offline one for the language that most names are in.
        usual = CHINESE_ENCODER if 2 * chinese > len(names) else DEFAULT_ENCODER
        encoder = load_encoder(options.get("encoder") or begun["encoder"] or usual)
    # Each batch is committed on its own: loading again finishes a load that was interrupted.
    _write(database, "entities", gathered.entity_rows(), len(gathered.entities), graph, load)
    rows = database.read("load_kg/stored_relationships", graph=graph)
    stored = {id_ for row in rows for id_ in row["ids"]}
    triples = (row for row in gathered.triple_rows() if row["id"] not in stored)
    new = _write(database, "relationships", triples, len(gathered.triples), graph, load)
    if encoder is not None:
        _embed_names(database, graph, encoder)
    database.write("load_kg/finish", graph=graph, load=load)
    database.read("install/await_indexes")
    (counts,) = database.read("load_kg/counts", graph=graph)
    relations = {row["name"]: row["count"] for row in counts["relations"]}
    return GraphLoadReport(
        graph=graph,
        files=files,
        triples=gathered.facts,
        duplicates=gathered.duplicates,
        skipped=len(gathered.skipped),
        skipped_rows=tuple(gathered.skipped),
        new=new,
        entities=counts["entities"],
        relationships=sum(relations.values()),
        relations=relations,
        types={row["name"]: row["count"] for row in counts["types"] if row["name"]},
        embedded=counts["embedded"],
        errors=tuple(gathered.errors),
        seconds=round(time.monotonic() - began, 3),
    )


def _write(
    database: Database, title: str, rows: Iterable[Row], count: int, graph: str, load: str
) -> int:
    """Write rows in batches; return their number. Raises GraphError once another load began."""
    total = 0
    with bar(title, count) as progress:
        for batch in in_batches(rows, BATCH):
            (row,) = database.write(f"load_kg/{title}", graph=graph, load=load, rows=batch)
            if row["written"] != len(batch):
                problem = "another load or deletion of this graph began meanwhile"
                raise GraphError(problem, where=graph, hint="Load again once it has ended.")
            progress.update(len(batch))
            total += len(batch)
    return total


def _embed_names(database: Database, graph: str, encoder: Encoder) -> None:
    """Write the embeddings of all entities that have none, those with the longest names first.

    Names with a character outside the encoder's vocabulary are left out: two such names that
    differ only there would get the same embedding.
    """
    (stored,) = database.write(
        "load_kg/unembedded", graph=graph, encoder=encoder.name, dimension=encoder.dimension
    )
    if (stored["encoder"], stored["dimension"]) != (encoder.name, encoder.dimension):
        problem = f"the graph is embedded with {stored['encoder']} ({stored['dimension']})"
        hint = "Use that encoder, or delete the graph and load it again."
        raise EncoderError(problem, where=graph, hint=hint)
    rows = stored["entities"]
    unknown = token_id(encoder.tokenizer, "[UNK]", "<unk>")
    tokens = encoder.tokenizer.encode_batch([row["name"] for row in rows], add_special_tokens=False)
    rows = [row for row, name in zip(rows, tokens, strict=True) if unknown not in name.ids]
    # Sorted by length over all batches, so that a batch has names of similar length.
    rows.sort(key=lambda row: -len(row["name"]))
    with bar("embed", len(rows)) as progress:
        for batch in in_batches(rows, _EMBEDDED):
            vectors = encoder.encode([row["name"] for row in batch]).tolist()
            pairs = [{"id": r["id"], "vector": v} for r, v in zip(batch, vectors, strict=True)]
            database.write("connect/embeddings", rows=pairs)
            progress.update(len(batch))
