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
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from itertools import groupby, islice
from pathlib import Path
from typing import IO, Annotated, Any, ClassVar, Literal, NoReturn, Protocol, Self, TypeVar

import msgspec
import numpy as np

from kgp_neo4j.environment.disk import replacing
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.text.safe import cut
from kgp_neo4j.types.errors import DatabaseError, InputError, KgpError
from kgp_neo4j.types.transfer import Transfer

__all__ = ["ExportFile", "Importer", "Kind", "content", "discard", "export", "unusable"]

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
    lines: int = 0
    sha256: str = ""


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
    nodes: _Part = msgspec.field(default_factory=_Part)
    relationships: _Part = msgspec.field(default_factory=_Part)


@dataclass(frozen=True)
class Kind:
    """What an export has, a corpus or a knowledge graph.

    `properties` has the names of all properties by their type: "text", "whole", "number", "truth",
    "time", "vector", "list of text" or "list of whole".
    """

    name: Literal["corpus", "graph"]
    #: The label of the node that stands for the corpus or graph.
    label: str
    #: The statement that lists all nodes but that one.
    listing: str
    properties: dict[str, str]
    #: Which of a node's labels its line has.
    choose_labels: Callable[[Sequence[str]], list[str]]
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
    """Gives what a file has its place under a name: checks it, and makes its ids anew."""

    kind: ClassVar[Kind]

    def place_node(self, labels: list[str], properties: Row) -> list[str] | None:
        """Return the labels to write, None to leave the node out; changes the properties."""

    def place_relationship(self, type_: str, start: int, end: int, properties: Row) -> None:
        """Check a relationship between two nodes, by their lines; changes the properties."""


def unusable(what: str, where: str = "") -> NoReturn:
    """Raise the error for a file that is damaged or no export."""
    raise InputError(
        f"the file is damaged, or no export of kgp-neo4j ({what})",
        where=where or None,
        hint="Nothing of it was kept. Copy or export it again.",
    )


# --- Out ------------------------------------------------------------------------------------------


def content(
    database: Database, kind: Kind, name: str, *, vectors: bool = True
) -> Iterator[tuple[str, bytes]]:
    """Yield (member, line) of a corpus or graph: all nodes, then all relationships.

    Memory holds a key and an id for each node. Raises InputError where it changes meanwhile.
    """
    listed = database.stream(kind.listing, name=name)
    ids = [id_ for *_, id_ in sorted((row["rank"], row["key"], row["node"]) for row in listed)]
    line_by_id = {id_: line for line, id_ in enumerate(ids)}
    for page in _batches(ids, _PAGE):
        rows = {row["node"]: row for row in database.read_packed("transfer/nodes", nodes=page)}
        if len(rows) != len(page):
            _changed(name)
        for id_ in page:
            labels = kind.choose_labels(rows[id_]["labels"])
            yield _NODES, _line(_node(kind, labels, rows[id_]["properties"], vectors))
    chosen = {"types": list(kind.relationship_types), "graph": name}
    for page in _batches(ids, _PAGE):
        relationships = []
        for row in database.read_packed("transfer/relationships", nodes=page, **chosen):
            start, end = line_by_id[row["start"]], line_by_id.get(row["end"])
            if end is None:
                _changed(name)
            properties = _node(kind, [], row["properties"], False).properties
            relationships.append(
                (start, row["type"], end, _line([row["type"], start, end, properties]))
            )
        for *_, line in sorted(relationships):
            yield _RELATIONSHIPS, line


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


def export(
    database: Database, kind: Kind, name: str, path: Path, *, vectors: bool, overwrite: bool
) -> Transfer:
    """Write a corpus or graph that exists into a file, which is there whole or not at all.

    Raises InputError where the file exists and `overwrite` is false, and where the corpus or graph
    changes meanwhile, ServerError where the file cannot be written.
    """
    began = time.monotonic()
    if path.exists() and not overwrite:
        raise InputError("the file exists", where=str(path), hint="Add --overwrite to replace it.")
    root = _root(database, kind, name)
    with replacing(path, private=False) as file:
        lines = content(database, kind, name, vectors=vectors)
        manifest = Manifest(
            format=FORMAT,
            version=metadata.version("kgp-neo4j"),
            kind=kind.name,
            vectors=vectors,
            properties=root.properties,
            times=root.times,
        )
        _write_members(file, manifest, lines)
        if _root(database, kind, name) != root:
            _changed(name)
    counts = manifest.nodes.lines, manifest.relationships.lines
    return _transfer(manifest, name, path, began, *counts)


def _root(database: Database, kind: Kind, name: str) -> Node:
    rows = database.read("transfer/root", name=name, kind=kind.label)
    if not rows:
        _changed(name)
    return _node(kind, [], rows[0]["properties"], True)


def _write_members(file: IO[bytes], manifest: Manifest, lines: Iterator[tuple[str, bytes]]) -> None:
    """Write nodes and relationships, then the manifest with their numbers and sums."""
    grouped = groupby(lines, key=lambda line: line[0])
    member, group = next(grouped, ("", iter(())))
    with zipfile.ZipFile(file, "w") as archive, bar("export", None) as progress:
        for name, part in ((_NODES, manifest.nodes), (_RELATIONSHIPS, manifest.relationships)):
            digest = hashlib.sha256()
            with archive.open(_zip_info(name), "w", force_zip64=True) as out:
                for _, line in group if member == name else ():
                    out.write(line)
                    digest.update(line)
                    part.lines += 1
                    progress.update(1)
            part.sha256 = digest.hexdigest()
            if member == name:
                member, group = next(grouped, ("", iter(())))
        archive.writestr(_zip_info(_MANIFEST), msgspec.json.encode(manifest, order="deterministic"))


def _zip_info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


# --- In -------------------------------------------------------------------------------------------


class ExportFile:
    """An export that is read; close it, or use it with `with`.

    Opening it checks the manifest and that the members are there; raises InputError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except OSError as error:
            raise InputError(
                f"the file cannot be read ({error.strerror})", where=str(path)
            ) from error
        except _UNREADABLE as error:
            unusable(str(error), str(path))
        try:
            self._check_sizes()
            self.manifest = self._read_manifest()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    @property
    def kind(self) -> str:
        """What the file has: "corpus" or "graph"."""
        return self.manifest.kind

    @property
    def name(self) -> str:
        """The name that it was exported under."""
        return str(self.manifest.properties["name"])

    def check(self, importer: Importer) -> None:
        """Read everything once, and raise InputError unless all of it can be imported."""
        _check_properties(
            importer.kind, self.manifest.properties, self.manifest.times, {}, str(self.path)
        )
        nodes = sum(1 for _ in self._nodes(importer))
        for _ in self._relationships(importer, nodes):
            pass

    def write(
        self,
        database: Database,
        name: str,
        importer: Importer,
        *,
        prepare: Callable[[], object],
        undo: Callable[[], object],
    ) -> Transfer:
        """Import everything under a name, all or nothing.

        The name must be free, and nothing left there (`discard`). `prepare` is called before the
        last step, which makes the whole visible at once; `undo` discards what is there.
        """
        began = time.monotonic()
        manifest = self.manifest
        root = manifest.properties | {"name": name}
        label = importer.kind.label
        mark = {"name": name, "load": uuid.uuid4().hex}
        try:
            database.write("transfer/begin", kind=label, properties=root, **mark)
            total = manifest.nodes.lines + manifest.relationships.lines
            with bar("import", total) as progress:
                ids: list[str | None] = []
                for nodes in _batches(self._nodes(importer), _BATCH):
                    ids += _write_nodes(database, nodes, mark)
                    progress.update(len(nodes))
                relationships = 0
                for batch in _batches(self._relationships(importer, len(ids)), 2 * _BATCH):
                    relationships += _write_relationships(database, batch, ids, mark)
                    progress.update(len(batch))
            prepare()
            if not database.write("transfer/finish", times=manifest.times, **mark):
                _changed(name)
        except BaseException as error:
            # Where the mark is gone, another process has deleted what was there, and has the name.
            with contextlib.suppress(KgpError):
                if database.write("transfer/take", kind=label, **mark)[0]["marks"]:
                    undo()
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

    def _check_sizes(self) -> None:
        infos = self._zip.infolist()
        if sorted(info.filename for info in infos) != [_MANIFEST, _NODES, _RELATIONSHIPS]:
            unusable("other members than an export has", str(self.path))
        for info in infos:
            most = max(_LONGEST_LINE, _MOST_COMPRESSED * info.compress_size)
            if info.file_size > (_LARGEST_MANIFEST if info.filename == _MANIFEST else most):
                unusable(f"{info.filename} unpacks without end", str(self.path))

    def _read_manifest(self) -> Manifest:
        try:
            text = self._zip.read(_MANIFEST)
            # Files of another format may have another manifest.
            if msgspec.json.decode(text, type=_Format).format != FORMAT:
                raise InputError(
                    "another release of kgp-neo4j made the file",
                    where=str(self.path),
                    hint="Use the release that made it, or export it again with this one.",
                )
            manifest = msgspec.json.decode(text, type=Manifest)
        except _UNREADABLE as error:
            unusable(str(error), str(self.path))
        if not isinstance(manifest.properties.get("name"), str):
            unusable("no name", str(self.path))
        return manifest

    def _nodes(self, importer: Importer) -> Iterator[Node | None]:
        """Yield the nodes under their new ids, None for one that is left out."""
        for where, node in self._lines(_NODES, self.manifest.nodes, Node):
            _check_properties(importer.kind, node.properties, node.times, node.vectors, where)
            try:
                labels = importer.place_node(node.labels, node.properties)
            except (KeyError, TypeError, ValueError, InputError) as error:
                unusable(f"a node without its place: {error!r}", where)
            node.labels = labels or []
            yield node if labels else None

    def _relationships(self, importer: Importer, nodes: int) -> Iterator[Relationship]:
        lines = self._lines(_RELATIONSHIPS, self.manifest.relationships, Relationship)
        for where, line in lines:
            if max(line.start, line.end) >= nodes:
                unusable("a relationship of no node", where)
            _check_properties(importer.kind, line.properties, {}, {}, where)
            try:
                importer.place_relationship(line.type, line.start, line.end, line.properties)
            except InputError as error:
                unusable(error.what, where)
            yield line

    def _lines(self, member: str, part: _Part, type_: type[_L]) -> Iterator[tuple[str, _L]]:
        """Yield place and record of each line; raises InputError unless count and sum are right."""
        decode = msgspec.json.Decoder(type_).decode
        digest, count = hashlib.sha256(), 0
        where = f"{self.path}: {member}"
        try:
            with self._zip.open(member) as file:
                while line := file.readline(_LONGEST_LINE + 1):
                    if len(line) > _LONGEST_LINE:
                        unusable("a line without end", where)
                    digest.update(line)
                    count += 1
                    yield f"{where}:{count}", decode(line)
        except (OSError, *_UNREADABLE) as error:
            unusable(str(error), f"{where}:{count}")
        if (count, digest.hexdigest()) != (part.lines, part.sha256):
            unusable("its SHA-256 is another", where)


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
        unusable(str(error), where)
    for names, known in ((times, kind.times), (vectors, kind.vectors)):
        if unknown := names.keys() - known:
            unusable(f"no place for {', '.join(cut(name, 60) for name in unknown)}", where)
    for vector in vectors.values():
        whole, rest = divmod(len(vector), 4)
        if rest or not 1 <= whole <= _LONGEST_VECTOR:
            unusable("a vector of no numbers", where)
        if not np.isfinite(np.frombuffer(vector, "<f4")).all():
            unusable("a vector of no numbers", where)


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
    database.write("transfer/forget", name=name, kind=label)
    return True


def _batches(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
