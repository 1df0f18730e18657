"""The knowledge graphs of the database: listed, opened, deleted, exported and imported."""

import re
import time
import uuid
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import regex
from numpy.typing import NDArray

from kgp_neo4j.environment.apart import Workers
from kgp_neo4j.environment.files import find, size_on_disk
from kgp_neo4j.environment.job import bar
from kgp_neo4j.graphdb.database import Database, Row, in_batches
from kgp_neo4j.graphdb.export_files import Kind, discard, export, import_file
from kgp_neo4j.mindmap.link import name_forms
from kgp_neo4j.mindmap.load.graph_files import KINDS, NAMES, RDF_KINDS, kind_of, read_mapping
from kgp_neo4j.models.encoder import Encoder, embed, load_encoder
from kgp_neo4j.models.engine import CHINESE_ENCODER, DEFAULT_ENCODER, token_id
from kgp_neo4j.text.safe import parts
from kgp_neo4j.types.corpus import Transfer
from kgp_neo4j.types.errors import ConfigurationError, EncoderError, GraphError, InputError
from kgp_neo4j.types.mindmap import GraphLoadReport, GraphSummary


def graphs(database: Database) -> list[GraphSummary]:
    """Return all knowledge graphs by name, with what is in them."""
    return [GraphSummary(**row) for row in database.read("inspect/graphs")]


def require_graph(database: Database, graph: str) -> GraphSummary:
    """Return what is in a knowledge graph; raises GraphError when there is no such one."""
    known = graphs(database)
    summary = next((each for each in known if each.name == graph), None)
    if summary is None:
        raise no_graph(graph, known)
    return summary


def no_graph(graph: str, known: Sequence[GraphSummary]) -> GraphError:
    """Return the error for a graph that is not among those known."""
    names = ", ".join(each.name for each in known) or "none yet"
    hint = f"Graphs: {names}. `kgp-neo4j load-kg FILE --graph NAME` makes one."
    return GraphError(f"there is no knowledge graph {graph!r}", hint=hint)


def delete_graph(database: Database, graph: str) -> GraphSummary:
    """Delete a knowledge graph with its entities and relationships; return what was in it.

    Corpora, other graphs and the nodes that a graph was copied from stay. Deleting again finishes
    a deletion that was interrupted. Raises GraphError when there is no such graph.
    """
    if discard_import(database, graph) and not database.read("explore/graph", graph=graph):
        return GraphSummary(graph, 0, 0)
    summary = require_graph(database, graph)
    database.write_in_batches("load_kg/delete_graph", graph=graph)
    return summary


def discard_import(database: Database, graph: str) -> bool:
    """Delete what an import that was cut off has left of a graph; return whether it had."""
    delete = partial(database.write_in_batches, "load_kg/delete_graph", graph=graph)
    return discard(database, "KnowledgeGraph", graph, delete)


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """A knowledge graph: its relationship types, and its encoder's name where it is embedded."""

    database: Database
    name: str
    encoder_name: str | None
    relations: tuple[str, ...]

    @property
    def encoder(self) -> Encoder | None:
        """Return the encoder of the graph's embeddings, if it has any."""
        return load_encoder(self.encoder_name) if self.encoder_name else None

    def read(self, path: str, **values: Any) -> list[Row]:
        """Run a statement on this graph; nodes come as maps, relationships as triples."""
        return self.database.read_packed(path, graph=self.name, **values)

    def similarity(self, texts: Sequence[str], others: Sequence[str]) -> NDArray[np.float32]:
        """Return the cosines of texts, (texts, others); all are 0 for a graph without encoder."""
        encoder = self.encoder
        if encoder is None or not texts or not others:
            return np.zeros((len(texts), len(others)), np.float32)
        return np.asarray(embed(encoder, texts) @ embed(encoder, others).T)


def open_graph(database: Database, name: str) -> StoredGraph:
    """Return a knowledge graph; raises GraphError where there is none of this name."""
    rows = database.read("explore/graph", graph=name)
    if not rows:
        raise no_graph(name, graphs(database))
    return StoredGraph(database, name, rows[0]["encoder"], tuple(rows[0]["relations"]))


def _check_root(root: Row) -> None:
    if root.get("scope") != name_forms.graph_scope(root["name"]):
        raise InputError("another scope than its name has")
    root.pop("load", None)


def _place_node(root: Row, labels: list[str], properties: Row) -> list[str]:
    if labels[:1] != ["Entity"] or any(map(name_forms.is_reserved, labels[1:])):
        raise InputError("a label that no entity has")
    name, key = properties["name"], properties["key"]
    kinds = [("name", name), *(("type", label) for label in labels[1:])]
    problem = next(filter(None, (name_forms.problem_of(*kind) for kind in kinds)), "")
    if problem or key != name_forms.key_of(name):
        raise InputError(problem or "a key that is not of its name")
    place = {
        "id": name_forms.entity_id(root["name"], key),
        "graph": root["name"],
        "scope": root["scope"],
    }
    if any(properties[each] != value for each, value in place.items()):
        raise InputError("an entity of another graph")
    return labels


def _check_relationship(root: Row, type_: str, properties: Row) -> None:
    if problem := name_forms.problem_of("relation", type_):
        raise InputError(problem)
    if properties.get("graph") != root["name"]:
        raise InputError("a relationship of another graph")


GRAPH = Kind(
    name="graph",
    label="KnowledgeGraph",
    choose_labels=lambda labels: ["Entity", *sorted(set(labels) - {"Entity"})],
    check_name=name_forms.checked_graph,
    delete=delete_graph,
    discard=discard_import,
    check_root=_check_root,
    place_node=_place_node,
    check_relationship=_check_relationship,
    make_indexes=lambda database, _: database.read("install/await_indexes"),
    error=GraphError,
)


def export_graph(
    database: Database, graph: str, path: str | Path, *, overwrite: bool = False
) -> Transfer:
    """Write a knowledge graph into one file, which is there whole or not at all; the graph stays.

    Raises GraphError without a whole graph, InputError where the file exists without `overwrite`.
    """
    require_graph(database, graph)
    roots = database.read("transfer/root", name=graph, kind=GRAPH.label)
    if not roots or "load" in roots[0]["properties"]:
        what = "the graph is not loaded to its end"
        raise GraphError(what, where=graph, hint="Load its files again.")
    return export(database, GRAPH, graph, Path(path), overwrite=overwrite)


#: Imports a knowledge graph from a file of `export_graph`.
import_graph = partial(import_file, kind=GRAPH)


#: Types of head and tail; empty where nothing is known.
Ends = tuple[str, str]

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: A file with more relations or types than this has them in the wrong column. The database keeps
#: every name of a relationship type and a label for good.
_MOST = {"relation": 5_000, "type": 1_000}


def _inferred_types(relation: str) -> Ends:
    """Return the types of head and tail that a name as `has_symptom` or `symptom_of` suggests."""
    words = [word.lower() for word in _WORD.findall(relation)]
    if len(words) < 2:
        return "", ""
    noun = words[-2] if words[-1] == "of" else words[-1]
    types: dict[str, str] = NAMES["types"]
    type_ = types.get(noun) or types.get(noun.removesuffix("s"), "")
    return (type_, "") if words[-1] == "of" else ("", type_)


def parse_type(text: str) -> tuple[str, Ends]:
    """Return the relation and the types of `relation=HeadType:TailType`; either may be empty."""
    relation, equals, ends = text.rpartition("=")
    head, colon, tail = ends.partition(":")
    if not (relation.strip() and equals and colon):
        hint = "Write relation=HeadType:TailType, such as has_symptom=Disease:Symptom."
        raise ConfigurationError(f"{text!r} says no types", hint=hint)
    return relation.strip(), (head.strip(), tail.strip())


@dataclass(slots=True)
class _Entity:
    """An entity; `types` counts types that sources give, `votes` types that relations suggest."""

    id: str
    name: str
    aliases: dict[str, None] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    votes: Counter[str] = field(default_factory=Counter)


class Gathered:
    """The entities, by key, and triples of all sources of one load, in the order they were read."""

    def __init__(self, graph: str, missing: Collection[str] = ()) -> None:
        self.graph = graph
        self.missing = missing
        self.errors: list[str] = []
        #: What had no value, each with its place.
        self.skipped: list[str] = []
        self.facts = self.duplicates = 0
        self.entities: dict[str, _Entity] = {}
        #: The keys of head and tail, and the relation between.
        self.triples: dict[tuple[str, str, str], None] = {}
        #: Keys and names for display of the names as they were read.
        self._spellings: dict[str, tuple[str, str]] = {}
        #: Relations and types as they were read, and as they are stored.
        self._stored: dict[str, dict[str, str]] = {"relation": {}, "type": {}}

    def read(self, records: Iterable[name_forms.Record], *, keep_going: bool) -> None:
        """Add what a reader yields; raises InputError at a bad record, or lists it and goes on."""
        for record in records:
            try:
                if isinstance(record, InputError):
                    raise record
                if isinstance(record, name_forms.NamedEntity):
                    self._add_entity(record)
                else:
                    self._add_fact(record)
            except InputError as error:
                if not keep_going:
                    hint = "Nothing was written; --keep-going loads the rest without this."
                    hint = f"{error.hint} {hint}" if error.hint else hint
                    raise InputError(error.what, where=error.where, hint=hint) from error
                self.errors.append(str(error))

    # Both check all names of a record before they add anything of it.

    def _add_fact(self, fact: name_forms.Fact) -> None:
        if self._is_skipped(fact, "head", "relation", "tail"):
            return
        relation = self._checked("relation", fact.relation, fact.where)
        types = [self._checked("type", t, fact.where) for t in (fact.head_type, fact.tail_type)]
        spellings = [self._spelling(text, fact.where) for text in (fact.head, fact.tail)]
        for spelling, type_ in zip(spellings, types, strict=True):
            self._entity(*spelling, type_)
        self.facts += 1
        triple = (spellings[0][0], relation, spellings[1][0])
        self.duplicates += triple in self.triples
        self.triples[triple] = None

    def _add_entity(self, row: name_forms.NamedEntity) -> None:
        if self._is_skipped(row, "name"):
            return
        type_ = self._checked("type", row.type, row.where)
        own, *others = (self._spelling(text, row.where) for text in (row.name, *row.aliases))
        entity = self._entity(*own, type_)
        entity.aliases |= {alias: None for key, alias in others if key != own[0]}

    def _is_skipped(self, record: name_forms.Fact | name_forms.NamedEntity, *names: str) -> bool:
        """Note a record of which a part is missing, and return whether one is."""
        texts = {part: text.strip() for part, text in parts(record, *names).items()}
        lacking = [
            part for part, text in texts.items() if name_forms.is_missing(text, self.missing)
        ]
        if lacking:
            told = [f"{part} ({texts[part]})" if texts[part] else part for part in lacking]
            self.skipped.append(f"{record.where}: no {' and no '.join(told)}")
        return bool(lacking)

    def _spelling(self, text: str, where: str) -> tuple[str, str]:
        """Return a name's key and the name for display; raises InputError where it is no name."""
        if known := self._spellings.get(text):
            return known
        name = name_forms.clean(text)
        key = name_forms.key_of(name)
        if problem := name_forms.problem_of("name", name) or (
            "" if key else f"{text!r} is no name"
        ):
            raise InputError(problem, where=where)
        self._spellings[text] = key, name
        return key, name

    def _entity(self, key: str, name: str, type_: str) -> _Entity:
        if key not in self.entities:
            self.entities[key] = _Entity(name_forms.entity_id(self.graph, key), name)
        entity = self.entities[key]
        if name != entity.name:
            entity.aliases[name] = None  # another spelling of the same key
        if type_:
            entity.types[type_] += 1
        return entity

    def _checked(self, kind: str, text: str, where: str) -> str:
        """Return a relation or a type as it is stored, a missing one as an empty text."""
        stored = self._stored[kind]
        if text not in stored:
            name = "" if name_forms.is_missing(text, self.missing) else text.strip()
            problem = name_forms.problem_of(kind, name)
            if not problem and len(stored) >= _MOST[kind]:
                problem = f"more than {_MOST[kind]:,} different {kind}s, perhaps of another column"
            if problem:
                raise InputError(problem, where=where, hint="A header line can name the columns.")
            stored[text] = name
        return stored[text]

    def decide_types(self, by_relation: Mapping[str, Ends]) -> None:
        """Let relations vote on the types of entities for which no source gives one.

        `by_relation` has the user's types; those of other relations are inferred from their names.
        """
        for relation, types in by_relation.items():
            if problem := name_forms.problem_of("type", types[0]) or name_forms.problem_of(
                "type", types[1]
            ):
                raise ConfigurationError(f"the type of {relation!r} is {problem}")
        names = self._stored["relation"].values()
        ends = {name: by_relation.get(name) or _inferred_types(name) for name in names}
        for head, relation, tail in self.triples:
            for key, type_ in zip((head, tail), ends[relation], strict=True):
                if type_:
                    self.entities[key].votes[type_] += 1

    def entity_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the entities as `load_kg/entities` takes them."""
        for key, entity in self.entities.items():
            # Most frequent first, the first one read where several are as frequent.
            types = [name for name, _ in (entity.types or entity.votes).most_common()]
            labels = [name for name in types if not name_forms.is_reserved(name)]
            kind = {"type": types[0] if types else "", "labels": labels}
            yield parts(entity, "id", "name") | {"key": key, "aliases": [*entity.aliases]} | kind

    def triple_rows(self) -> Iterator[dict[str, str]]:
        """Yield the triples as `load_kg/relationships` takes them."""
        for head_key, relation, tail_key in self.triples:
            head, tail = self.entities[head_key].id, self.entities[tail_key].id
            id_ = name_forms.triple_id(head, relation, tail)
            yield {"id": id_, "head": head, "relation": relation, "tail": tail}


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
    kind = list[name_forms.Fact | name_forms.NamedEntity]

    def records() -> Generator[name_forms.Record, None, None]:
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

    def records() -> Generator[name_forms.Record, None, None]:
        for row in database.read("load_kg/adopted_nodes", **values):
            yield name_forms.NamedEntity(
                row["name"] or "", f"{where} node {row['node']}", row["type"]
            )
        for row in database.read("load_kg/adopted_relationships", **values):
            yield name_forms.Fact(row["head"] or "", row["relation"], row["tail"] or "", where)

    return _load(database, graph, records(), **options)


def _load(
    database: Database,
    graph: str,
    records: Generator[name_forms.Record, None, None],
    *,
    files: int = 0,
    **options: Unpack[LoadOptions],
) -> GraphLoadReport:
    began, load = time.monotonic(), uuid.uuid4().hex
    gathered = Gathered(name_forms.checked_graph(graph), options.get("missing", ()))
    with closing(records):  # ends the progress bar of reading also after an error
        gathered.read(records, keep_going=options.get("keep_going", False))
    gathered.decide_types(options.get("types") or {})
    if not gathered.entities:
        first = next((f" ({each})" for each in (*gathered.errors, *gathered.skipped)), "")
        raise InputError(f"there is no triple to load{first}", where=graph)
    discard_import(database, graph)
    (begun,) = database.write(
        "load_kg/begin", graph=graph, scope=name_forms.graph_scope(graph), load=load
    )
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
