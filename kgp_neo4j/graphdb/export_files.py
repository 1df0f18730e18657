"""Writes a part of the graph into one file and reads it back: streamed, checked, all or nothing.

The file is a zip of three members. `nodes.jsonl` has a line for each node, ordered by kind and key:
`{"l": labels, "p": properties, "t": times as texts, "v": vectors as base64 of float32}`;
`relationships.jsonl` has lines `[type, start, end, properties]`, where start and end count the
lines of nodes from 0; `manifest.json` has the format, the properties of the corpus or graph itself,
and the number of lines and the SHA-256 of both others. The same content makes the same lines.

Nothing in a file is trusted: an `Importer` says which labels, types and properties there may be,
ids are made anew, and everything reaches the database as parameters.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Protocol, Self, TypeVar

import msgspec
import numpy as np

from kgp_neo4j.environment.disk import replacing
from kgp_neo4j.environment.progress import Progress, bar
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.text.safe import cut
from kgp_neo4j.types.errors import DatabaseError, InputError, KgpError
from kgp_neo4j.types.transfer import Transfer

__all__ = ["Importer", "Kind", "Manifest", "discard", "export", "import_file", "open_export"]

#: Raised with every change of the format or of the graph's layout.
FORMAT = 2
_MANIFEST, _NODES, _RELATIONSHIPS = "manifest.json", "nodes.jsonl", "relationships.jsonl"
#: Nodes of one read; nodes and relationships of one write.
_PAGE, _BATCH = 500, 1_000
#: Bytes of a line and of the manifest, and numbers of a vector, at most.
_LONGEST_LINE, _LARGEST_MANIFEST, _LONGEST_VECTOR = 64 << 20, 4 << 20, 4096
#: How many times as long as in the zip a member may be, once it is longer than a line.
_MOST_COMPRESSED = 200
_L = TypeVar("_L")
_T = TypeVar("_T")
#: What the contents of a file are called, and the class that imports them.
_CALLED = {"corpus": ("corpus", "Corpus"), "graph": ("knowledge graph", "KnowledgeGraph")}
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError),
    *(msgspec.MsgspecError, UnicodeDecodeError),
)

_Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_TYPES: dict[str, Any] = {
    "text": str,
    "whole": _Whole,
    "number": float,
    "truth": bool,
    "list of text": list[str],
    "list of whole": list[_Whole],
}


class Node(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A node as a file has it: labels, plain properties, times as texts, vectors as bytes."""

    labels: list[str] = msgspec.field(name="l")
    properties: dict[str, Any] = msgspec.field(name="p", default_factory=dict)
    times: dict[str, str] = msgspec.field(name="t", default_factory=dict)
    vectors: dict[str, bytes] = msgspec.field(name="v", default_factory=dict)


class Relationship(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A relationship as a file has it, between two nodes by their lines."""

    type: str
    start: Annotated[int, msgspec.Meta(ge=0)]
    end: Annotated[int, msgspec.Meta(ge=0)]
    properties: dict[str, Any]


class _Part(msgspec.Struct):
    lines: int
    sha256: str


class _Format(msgspec.Struct):
    format: int


class Manifest(msgspec.Struct):
    """What a file says of itself; `properties` and `times` are those of the corpus or graph."""

    format: int
    version: str
    kind: Literal["corpus", "graph"]
    vectors: bool
    properties: dict[str, Any]
    times: dict[str, str]
    nodes: _Part
    relationships: _Part

    @property
    def name(self) -> str:
        """The name that it was exported under."""
        return str(self.properties["name"])


@dataclass(frozen=True)
class Kind:
    """What an export has, a corpus or a knowledge graph, and how such a one is imported.

    `properties` has the names of all properties by their type: "text", "whole", "number", "truth",
    "time", "vector", "list of text" or "list of whole".
    """

    name: Literal["corpus", "graph"]
    #: The label of the node that stands for the corpus or graph.
    label: str
    properties: dict[str, str]
    #: Which of a node's labels its line has.
    choose_labels: Callable[[Sequence[str]], list[str]]
    check_name: Callable[[str], str]
    delete: Callable[[Database, str], object]
    #: Deletes what an import that was cut off has left under a name.
    discard: Callable[[Database, str], object]
    error: type[KgpError]
    #: The types of relationships; where there are none, those that have the graph's name.
    relationship_types: tuple[str, ...] = ()

    @cached_property
    def times(self) -> set[str]:
        """The names of properties that are times."""
        return set(self.properties.get("time", "").split())

    @cached_property
    def vectors(self) -> set[str]:
        """The names of properties that are vectors."""
        return set(self.properties.get("vector", "").split())

    @cached_property
    def plain(self) -> type[msgspec.Struct]:
        """A record of all other properties, none of which has to be there."""
        fields = [
            (name, type_ | msgspec.UnsetType, msgspec.UNSET)
            for kind, type_ in _TYPES.items()
            for name in self.properties.get(kind, "").split()
        ]
        return msgspec.defstruct("Properties", fields, forbid_unknown_fields=True)


class Importer(Protocol):
    """Gives what a file has its place under a name: checks it, and makes its ids anew.

    One reads the file through before anything is written, and a second one writes it.
    """

    def place_node(self, labels: list[str], properties: Row) -> list[str] | None:
        """Return the labels to write, None to leave the node out; changes the properties."""

    def place_relationship(self, type_: str, start: int, end: int, properties: Row) -> None:
        """Check a relationship between two nodes, by their lines; changes the properties."""

    def writer(self, database: Database, properties: Row) -> Self:
        """Return the importer that writes; changes the properties of the corpus or graph itself."""

    def make_indexes(self, database: Database) -> None:
        """Wait for the indexes of what is written, just before it is visible."""


def _unusable(what: str, where: str = "") -> NoReturn:
    """Raise the error for a file that is damaged or no export."""
    raise InputError(
        f"the file is damaged, or no export of kgp-neo4j ({what})",
        where=where or None,
        hint="Nothing of it was kept. Copy or export it again.",
    )


# --- Out ------------------------------------------------------------------------------------------


def export(
    database: Database, kind: Kind, name: str, path: Path, *, vectors: bool, overwrite: bool
) -> Transfer:
    """Write a corpus or graph that exists into a file, which is there whole or not at all.

    Memory holds a key and an id for each node. Raises InputError where the file exists and
    `overwrite` is false, and where the corpus or graph changes meanwhile, ServerError where the
    file cannot be written.
    """
    began = time.monotonic()
    if path.exists() and not overwrite:
        raise InputError("the file exists", where=str(path), hint="Add --overwrite to replace it.")
    root = _root(database, kind, name)
    with replacing(path, private=False) as file, zipfile.ZipFile(file, "w") as archive:
        listed = database.stream("transfer/listing", **{kind.name: name})
        ids = [id_ for *_, id_ in sorted((row["rank"], row["key"], row["node"]) for row in listed)]
        nodes = _node_lines(database, kind, name, ids, vectors)
        relationships = _relationship_lines(database, kind, name, ids)
        with bar("export", None) as progress:
            manifest = Manifest(
                format=FORMAT,
                version=metadata.version("kgp-neo4j"),
                kind=kind.name,
                vectors=vectors,
                properties=root.properties,
                times=root.times,
                nodes=_write_member(archive, _NODES, nodes, progress),
                relationships=_write_member(archive, _RELATIONSHIPS, relationships, progress),
            )
        archive.writestr(_zip_info(_MANIFEST), msgspec.json.encode(manifest, order="deterministic"))
        if _root(database, kind, name) != root:
            _changed(name)
    counts = manifest.nodes.lines, manifest.relationships.lines
    return _transfer(manifest, name, path, began, *counts)


def _root(database: Database, kind: Kind, name: str) -> Node:
    rows = database.read("transfer/root", name=name, kind=kind.label)
    if not rows:
        _changed(name)
    return _node(kind, [], rows[0]["properties"], True)


def _node_lines(
    database: Database, kind: Kind, name: str, ids: list[str], vectors: bool
) -> Iterator[bytes]:
    for page in _batches(ids, _PAGE):
        rows = {row["node"]: row for row in database.read_packed("transfer/nodes", nodes=page)}
        if len(rows) != len(page):
            _changed(name)
        for id_ in page:
            labels = kind.choose_labels(rows[id_]["labels"])
            yield _line(_node(kind, labels, rows[id_]["properties"], vectors))


def _relationship_lines(
    database: Database, kind: Kind, name: str, ids: list[str]
) -> Iterator[bytes]:
    line_by_id = {id_: line for line, id_ in enumerate(ids)}
    chosen = {"types": list(kind.relationship_types), "graph": name}
    for page in _batches(ids, _PAGE):
        relationships = []
        for row in database.read_packed("transfer/relationships", nodes=page, **chosen):
            start, end = line_by_id[row["start"]], line_by_id.get(row["end"])
            if end is None:
                _changed(name)
            properties = _node(kind, [], row["properties"], False).properties
            line = _line([row["type"], start, end, properties])
            relationships.append((start, row["type"], end, line))
        for *_, line in sorted(relationships):
            yield line


def _line(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic") + b"\n"


def _changed(name: str) -> NoReturn:
    raise InputError(
        "it changed while it was exported, imported or deleted by another process",
        where=name,
        hint="Run it again once nothing is written into it.",
    )


def _node(kind: Kind, labels: list[str], properties: Row, vectors: bool) -> Node:
    """Return a node as its line has it; raises InputError for what the format has no place for."""
    times, embeddings = kind.times & properties.keys(), kind.vectors & properties.keys()
    plain = {name: properties[name] for name in properties.keys() - times - embeddings}
    if unknown := plain.keys() - set(kind.plain.__struct_fields__):
        raise InputError(
            f"a {kind.name} has no property {', '.join(sorted(unknown))}, so that no import could "
            "take it",
            hint="Remove what was added by hand, or upgrade kgp-neo4j.",
        )
    return Node(
        labels,
        plain,
        {name: properties[name].iso_format() for name in times},
        {name: np.asarray(properties[name], "<f4").tobytes() for name in embeddings if vectors},
    )


def _write_member(
    archive: zipfile.ZipFile, member: str, lines: Iterator[bytes], progress: Progress
) -> _Part:
    """Write the lines of a member; return their number and sum."""
    digest, count = hashlib.sha256(), 0
    with archive.open(_zip_info(member), "w", force_zip64=True) as out:
        for line in lines:
            out.write(line)
            digest.update(line)
            count += 1
            progress.update(1)
    return _Part(count, digest.hexdigest())


def _zip_info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


# --- In -------------------------------------------------------------------------------------------


@contextmanager
def open_export(path: Path) -> Iterator[ExportFile]:
    """Open an export; its manifest is checked, and that the members are there.

    Raises InputError.
    """
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise InputError(f"the file cannot be read ({error.strerror})", where=str(path)) from error
    except _UNREADABLE as error:
        _unusable(str(error), str(path))
    with archive:
        yield ExportFile(path, archive, _read_manifest(path, archive))


def _read_manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    infos = archive.infolist()
    if sorted(info.filename for info in infos) != [_MANIFEST, _NODES, _RELATIONSHIPS]:
        _unusable("other members than an export has", str(path))
    for info in infos:
        most = max(_LONGEST_LINE, _MOST_COMPRESSED * info.compress_size)
        if info.file_size > (_LARGEST_MANIFEST if info.filename == _MANIFEST else most):
            _unusable(f"{info.filename} unpacks without end", str(path))
    try:
        text = archive.read(_MANIFEST)
        # Files of another format may have another manifest.
        if msgspec.json.decode(text, type=_Format).format != FORMAT:
            raise InputError(
                "another release of kgp-neo4j made the file",
                where=str(path),
                hint="Use the release that made it, or export it again with this one.",
            )
        manifest = msgspec.json.decode(text, type=Manifest)
    except _UNREADABLE as error:
        _unusable(str(error), str(path))
    if not isinstance(manifest.properties.get("name"), str):
        _unusable("no name", str(path))
    return manifest


def import_file(
    database: Database,
    kind: Kind,
    path: Path,
    importer: Callable[[str, Manifest], Importer],
    *,
    name: str | None,
    replace: bool,
) -> Transfer:
    """Import a file under its own name or another, all or nothing.

    It is read through and checked before anything is written, and visible once it is whole. An
    import that was cut off is begun again. `replace` deletes what has the name once the file is
    found good. Raises InputError for a file that is damaged or of another format, and the kind's
    error where the name is taken.
    """
    with open_export(path) as file:
        if file.manifest.kind != kind.name:
            of_file, wanted = _CALLED[file.manifest.kind], _CALLED[kind.name]
            raise InputError(
                f"the file has a {of_file[0]}, no {wanted[0]}",
                where=str(path),
                hint=f"Use {of_file[1]}.import_, or `kgp-neo4j import`.",
            )
        chosen = kind.check_name(file.manifest.name if name is None else name)
        try:
            checked = importer(chosen, file.manifest)
        except InputError as error:
            _unusable(error.what, str(path))
        file.check(kind, checked)
        if database.read("transfer/root", name=chosen, kind=kind.label):
            if not replace:
                raise kind.error(
                    f"there is a {_CALLED[kind.name][0]} {chosen!r} already",
                    hint="Import it under another name (--as NAME), or replace it (--replace).",
                )
            kind.delete(database, chosen)
        kind.discard(database, chosen)
        writer = checked.writer(database, file.manifest.properties)
        return file.write(database, kind, chosen, writer)


@dataclass(frozen=True)
class ExportFile:
    """An export that is open."""

    path: Path
    archive: zipfile.ZipFile
    manifest: Manifest

    def check(self, kind: Kind, importer: Importer) -> None:
        """Read everything once, and raise InputError unless all of it can be imported."""
        manifest = self.manifest
        _check_properties(kind, manifest.properties, manifest.times, {}, str(self.path))
        nodes = sum(1 for _ in self._nodes(kind, importer))
        for _ in self._relationships(kind, importer, nodes):
            pass

    def write(self, database: Database, kind: Kind, name: str, importer: Importer) -> Transfer:
        """Import everything under a name that is free, all or nothing."""
        began = time.monotonic()
        manifest = self.manifest
        root = manifest.properties | {"name": name}
        mark = {"name": name, "load": uuid.uuid4().hex}
        try:
            database.write("transfer/begin", kind=kind.label, properties=root, **mark)
            total = manifest.nodes.lines + manifest.relationships.lines
            with bar("import", total) as progress:
                ids: list[str | None] = []
                for nodes in _batches(self._nodes(kind, importer), _BATCH):
                    ids += _write_nodes(database, nodes, mark)
                    progress.update(len(nodes))
                relationships = 0
                lines = self._relationships(kind, importer, len(ids))
                for batch in _batches(lines, 2 * _BATCH):
                    relationships += _write_relationships(database, batch, ids, mark)
                    progress.update(len(batch))
            importer.make_indexes(database)
            if not database.write("transfer/finish", times=manifest.times, **mark):
                _changed(name)
        except BaseException as error:
            # Where the mark is gone, another process has deleted what was there, and has the name.
            with contextlib.suppress(KgpError):
                if database.write("transfer/take", kind=kind.label, **mark)[0]["marks"]:
                    kind.discard(database, name)
            if isinstance(error, DatabaseError):
                raise DatabaseError(
                    error.what,
                    where=error.where,
                    hint="The import was undone, or will be by the next one; nothing of it is "
                    f"visible. {error.hint or 'Import the file again.'}",
                ) from error
            raise
        written = len(ids) - ids.count(None)
        return _transfer(manifest, name, self.path, began, written, relationships)

    def _nodes(self, kind: Kind, importer: Importer) -> Iterator[Node | None]:
        """Yield the nodes under their new ids, None for one that is left out."""
        for where, node in self._lines(_NODES, self.manifest.nodes, Node):
            _check_properties(kind, node.properties, node.times, node.vectors, where)
            try:
                labels = importer.place_node(node.labels, node.properties)
            except (KeyError, TypeError, ValueError, InputError) as error:
                _unusable(f"a node without its place: {error!r}", where)
            node.labels = labels or []
            yield node if labels else None

    def _relationships(self, kind: Kind, importer: Importer, nodes: int) -> Iterator[Relationship]:
        lines = self._lines(_RELATIONSHIPS, self.manifest.relationships, Relationship)
        for where, line in lines:
            if max(line.start, line.end) >= nodes:
                _unusable("a relationship of no node", where)
            _check_properties(kind, line.properties, {}, {}, where)
            try:
                importer.place_relationship(line.type, line.start, line.end, line.properties)
            except InputError as error:
                _unusable(error.what, where)
            yield line

    def _lines(self, member: str, part: _Part, type_: type[_L]) -> Iterator[tuple[str, _L]]:
        """Yield place and record of each line; raises InputError unless count and sum are right."""
        decode = msgspec.json.Decoder(type_).decode
        digest, count = hashlib.sha256(), 0
        where = f"{self.path}: {member}"
        try:
            with self.archive.open(member) as file:
                while line := file.readline(_LONGEST_LINE + 1):
                    if len(line) > _LONGEST_LINE:
                        _unusable("a line without end", where)
                    digest.update(line)
                    count += 1
                    yield f"{where}:{count}", decode(line)
        except (OSError, *_UNREADABLE) as error:
            _unusable(str(error), f"{where}:{count}")
        if (count, digest.hexdigest()) != (part.lines, part.sha256):
            _unusable("its SHA-256 is another", where)


def _write_nodes(
    database: Database, nodes: Sequence[Node | None], mark: dict[str, str]
) -> list[str | None]:
    """Write nodes; return their element ids, None for one that is left out."""
    rows = [
        {
            "at": at,
            "labels": node.labels,
            "properties": node.properties,
            "times": node.times,
            "vectors": {
                name: np.frombuffer(vector, "<f4").astype(float).tolist()
                for name, vector in node.vectors.items()
            },
        }
        for at, node in enumerate(nodes)
        if node is not None
    ]
    written = database.write("transfer/write_nodes", rows=rows, **mark)
    if len(written) != len(rows):
        _changed(mark["name"])
    ids = {row["at"]: row["node"] for row in written}
    return [ids.get(at) for at in range(len(nodes))]


def _write_relationships(
    database: Database,
    batch: Sequence[Relationship],
    ids: Sequence[str | None],
    mark: dict[str, str],
) -> int:
    """Write the relationships between nodes that are written; return their number."""
    rows = [
        {"start": start, "end": end, "type": each.type, "properties": each.properties}
        for each in batch
        if (start := ids[each.start]) and (end := ids[each.end])
    ]
    (result,) = database.write("transfer/write_relationships", rows=rows, **mark)
    if result["written"] != len(rows):
        _changed(mark["name"])
    return len(rows)


def _check_properties(
    kind: Kind, properties: Row, times: dict[str, str], vectors: dict[str, bytes], where: str
) -> None:
    try:
        msgspec.convert(properties, kind.plain)
    except msgspec.ValidationError as error:
        _unusable(str(error), where)
    for names, known in ((times, kind.times), (vectors, kind.vectors)):
        if unknown := names.keys() - known:
            _unusable(f"no place for {', '.join(cut(name, 60) for name in unknown)}", where)
    for vector in vectors.values():
        whole, rest = divmod(len(vector), 4)
        if rest or not 1 <= whole <= _LONGEST_VECTOR:
            _unusable("a vector of no numbers", where)
        if not np.isfinite(np.frombuffer(vector, "<f4")).all():
            _unusable("a vector of no numbers", where)


def _transfer(
    manifest: Manifest, name: str, path: Path, began: float, nodes: int, relationships: int
) -> Transfer:
    return Transfer(
        name=name,
        kind=manifest.kind,
        file=str(path),
        nodes=nodes,
        relationships=relationships,
        vectors=manifest.vectors,
        bytes=path.stat().st_size,
        seconds=round(time.monotonic() - began, 3),
    )


def discard(database: Database, label: str, name: str, undo: Callable[[], object]) -> bool:
    """Delete what an import that was cut off has left under a name; return whether it had.

    An import that is running stops at its next batch.
    """
    if not database.write("transfer/take", name=name, kind=label)[0]["marks"]:
        return False
    if not database.read("transfer/root", name=name, kind=label):
        undo()
    database.write("transfer/take", name=name, kind=label, forget=True)
    return True


def _batches(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
