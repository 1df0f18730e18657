"""Writes a part of the graph into one file and reads it back: streamed, checked, all or nothing.

The file is a zip of three members. `nodes.jsonl` has a line for each node, ordered by kind and key:
`{"l": labels, "p": properties, "t": times as texts, "v": vectors as base64 of float32}`;
`relationships.jsonl` has lines `[type, start, end, properties]`, where start and end count the
lines of nodes from 0; `manifest.json` has the format, the properties of the corpus or graph itself,
and the number of lines and the SHA-256 of both others. The same content makes the same lines.

Nothing in a file is trusted: a `Kind` says which labels, types and properties there may be, no node
may be another corpus's, and everything reaches the database as parameters.
"""

import contextlib
import hashlib
import time
import uuid
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import msgspec
import numpy as np
from msgspec.structs import asdict

from kgp_neo4j.environment.disk import replacing
from kgp_neo4j.environment.job import Progress, bar
from kgp_neo4j.graphdb.database import Database, Row, in_batches
from kgp_neo4j.types.corpus import Transfer
from kgp_neo4j.types.errors import DatabaseError, InputError, KgpError

#: Raised with every change of the format or of the graph's layout.
FORMAT = 2
_MANIFEST, _NODES, _RELATIONSHIPS = "manifest.json", "nodes.jsonl", "relationships.jsonl"
#: Nodes of one read; nodes and relationships of one write.
_PAGE, _BATCH = 500, 1_000
#: Bytes of a line, and of a vector, at most.
_LONGEST_LINE, _LONGEST_VECTOR = 64 << 20, 4 * 4096
#: How many times as long as in the zip a member may be, once it is longer than a line.
_MOST_COMPRESSED = 200
_CALLED = {"corpus": "corpus", "graph": "knowledge graph"}
#: What reading a file that is damaged, or none of ours, raises.
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError),
    *(msgspec.MsgspecError, ValueError, KeyError, InputError),
)

_Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
#: The types of a node's properties as a file has them, by the part of its line that has them.
_TYPES: dict[str, dict[str, Any]] = {
    "properties": {
        "text": str,
        "whole": _Whole,
        "number": float,
        "truth": bool,
        "list of text": list[str],
        "list of whole": list[_Whole],
    },
    "times": {"time": str},
    "vectors": {"vector": Annotated[bytes, msgspec.Meta(min_length=4, max_length=_LONGEST_VECTOR)]},
}
#: The names of all properties by these types.
_PROPERTIES = msgspec.toml.decode(
    Path(__file__).with_name("exported.toml").read_bytes(), type=dict[str, dict[str, str]]
)


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


class Manifest(msgspec.Struct):
    """What a file says of itself; `properties` and `times` are those of the corpus or graph."""

    format: int
    version: str
    kind: Literal["corpus", "graph"]
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

    `label` is that of the node that stands for it. Without `relationship_types` they are those that
    have the graph's name.
    `choose_labels` tells which of a node's labels its line has; `discard` deletes what an import
    that was cut off has left under a name. The checks get the properties of the corpus or graph
    itself, then what they check; `place_node` returns the labels to write. `make_indexes` makes
    those that the content needs, before it is visible.
    """

    name: Literal["corpus", "graph"]
    label: str
    choose_labels: Callable[[Sequence[str]], list[str]]
    check_name: Callable[[str], str]
    delete: Callable[[Database, str], object]
    discard: Callable[[Database, str], object]
    place_node: Callable[[Row, list[str], Row], list[str]]
    check_relationship: Callable[[Row, str, Row], None]
    check_root: Callable[[Row], None]
    make_indexes: Callable[[Database, Row], object]
    error: type[KgpError]
    relationship_types: tuple[str, ...] = ()

    @cached_property
    def parts(self) -> dict[str, type[msgspec.Struct]]:
        """A record of each part of a node's line; nothing of them has to be there."""
        return {
            part: msgspec.defstruct(
                part,
                [
                    (name, type_ | msgspec.UnsetType, msgspec.UNSET)
                    for of, type_ in types.items()
                    for name in _PROPERTIES[self.name].get(of, "").split()
                ],
                forbid_unknown_fields=True,
            )
            for part, types in _TYPES.items()
        }

    def check(self, **parts: Mapping[str, Any]) -> None:
        """Raise an error unless an import can take what these parts have."""
        for part, values in parts.items():
            msgspec.convert(values, self.parts[part])
        for vector in parts.get("vectors", {}).values():
            if not np.isfinite(np.frombuffer(vector, "<f4")).all():
                raise InputError("a vector of no numbers")

    def admit(self, record: Node | Relationship, manifest: Manifest) -> None:
        """Give a node the labels to write; raise an error for a line that no import can take."""
        if isinstance(record, Node):
            self.check(properties=record.properties, times=record.times, vectors=record.vectors)
            record.labels = self.place_node(manifest.properties, record.labels, record.properties)
            return
        if max(record.start, record.end) >= manifest.nodes.lines:
            raise InputError("a relationship of no node")
        self.check(properties=record.properties)
        self.check_relationship(manifest.properties, record.type, record.properties)


@contextlib.contextmanager
def _intact(where: Callable[[], str]) -> Iterator[None]:
    """Turn what a damaged or hostile file raises in the block into an InputError."""
    try:
        yield
    except _UNREADABLE as error:
        what = error.what if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        what = f"the file is damaged, or no export of kgp-neo4j ({what})"
        hint = "Nothing of it was kept. Copy or export it again."
        raise InputError(what, where=where(), hint=hint) from error


# --- Out ------------------------------------------------------------------------------------------


def export(database: Database, kind: Kind, name: str, path: Path, *, overwrite: bool) -> Transfer:
    """Write a corpus or graph that exists into a file, which is there whole or not at all.

    Memory holds a key and an id a node. Raises InputError where the file exists and `overwrite` is
    false, or the data change meanwhile, ServerError where the file cannot be written.
    """
    began = time.monotonic()
    if path.exists() and not overwrite:
        raise InputError("the file exists", where=str(path), hint="Add --overwrite to replace it.")
    root = _root(database, kind, name)
    with replacing(path, private=False) as file, zipfile.ZipFile(file, "w") as archive:
        listed = database.stream("transfer/listing", **{kind.name: name})
        ids = [id_ for *_, id_ in sorted((row["rank"], row["key"], row["node"]) for row in listed)]
        nodes = _node_lines(database, kind, name, ids)
        relationships = _edge_lines(database, kind, name, ids)
        with bar("export", None) as progress:
            manifest = Manifest(
                format=FORMAT,
                version=metadata.version("kgp-neo4j"),
                kind=kind.name,
                properties=root.properties,
                times=root.times,
                nodes=_write_member(archive, _NODES, nodes, progress),
                relationships=_write_member(archive, _RELATIONSHIPS, relationships, progress),
            )
        archive.writestr(_zip_info(_MANIFEST), msgspec.json.encode(manifest, order="deterministic"))
        if _root(database, kind, name) != root:
            _changed(name)
    return _transfer(manifest, path, began)


def _root(database: Database, kind: Kind, name: str) -> Node:
    rows = database.read("transfer/root", name=name, kind=kind.label)
    if not rows:
        _changed(name)
    return _node(kind, [], rows[0]["properties"])


def _node_lines(database: Database, kind: Kind, name: str, ids: list[str]) -> Iterator[bytes]:
    for page in in_batches(ids, _PAGE):
        rows = {row["node"]: row for row in database.read_packed("transfer/nodes", nodes=page)}
        if len(rows) != len(page):
            _changed(name)
        for id_ in page:
            labels = kind.choose_labels(rows[id_]["labels"])
            yield _line(_node(kind, labels, rows[id_]["properties"]))


def _edge_lines(database: Database, kind: Kind, name: str, ids: list[str]) -> Iterator[bytes]:
    line_by_id = {id_: line for line, id_ in enumerate(ids)}
    chosen = {"types": list(kind.relationship_types), "graph": name}
    for page in in_batches(ids, _PAGE):
        relationships = []
        for row in database.read_packed("transfer/relationships", nodes=page, **chosen):
            start, end = line_by_id[row["start"]], line_by_id.get(row["end"])
            if end is None:
                _changed(name)
            line = _line([row["type"], start, end, _node(kind, [], row["properties"]).properties])
            relationships.append((start, row["type"], end, line))
        for *_, line in sorted(relationships):
            yield line


def _line(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic") + b"\n"


def _changed(name: str) -> NoReturn:
    what = "it changed while it was exported, imported or deleted by another process"
    raise InputError(what, where=name, hint="Run it again once nothing is written into it.")


def _node(kind: Kind, labels: list[str], properties: Row) -> Node:
    """Return a node as its line has it; raises InputError for what the format has no place for."""
    named = (kind.parts[part].__struct_fields__ for part in ("times", "vectors"))
    times, vectors = (properties.keys() & names for names in named)
    node = Node(
        labels,
        {name: properties[name] for name in properties.keys() - times - vectors},
        {name: properties[name].iso_format() for name in times},
        {name: np.asarray(properties[name], "<f4").tobytes() for name in vectors},
    )
    try:
        kind.check(properties=node.properties)
    except msgspec.ValidationError as error:
        what = f"no import could take a {kind.name} with such a property ({error})"
        hint = "Remove what was added by hand, or upgrade kgp-neo4j."
        raise InputError(what, hint=hint) from error
    return node


def _write_member(
    archive: zipfile.ZipFile, member: str, lines: Iterator[bytes], progress: Progress
) -> _Part:
    digest, count = hashlib.sha256(), 0
    with archive.open(_zip_info(member), "w", force_zip64=True) as out:
        for line in lines:
            out.write(line)
            digest.update(line)
            count += 1
            progress.update(1)
    return _Part(count, digest.hexdigest())


def _zip_info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # of 1980, so that the same content makes the same file
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


# --- In -------------------------------------------------------------------------------------------


def read_manifest(path: Path) -> Manifest:
    """Return what a file says of itself, once its members are checked; raises InputError."""
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError(f"the file cannot be read ({error.strerror})", where=str(path)) from error
    with _intact(lambda: str(path)):
        with zipfile.ZipFile(path) as archive:
            if sorted(archive.namelist()) != [_MANIFEST, _NODES, _RELATIONSHIPS]:
                raise InputError("other members than an export has")
            for info in archive.infolist():
                if info.file_size > max(_LONGEST_LINE, _MOST_COMPRESSED * info.compress_size):
                    raise InputError(f"{info.filename} unpacks without end")
            told = msgspec.json.decode(archive.read(_MANIFEST), type=dict[str, Any])
        # Files of another format may have another manifest.
        if msgspec.convert(told["format"], int) == FORMAT:
            manifest = msgspec.convert(told, Manifest)
            if not isinstance(manifest.properties["name"], str):
                raise InputError("a name that is no text")
            return manifest
    hint = "Use the release that made it, or export it again with this one."
    raise InputError("another release of kgp-neo4j made the file", where=str(path), hint=hint)


def import_file(
    database: Database,
    path: str | Path,
    *,
    kind: Kind,
    name: str | None = None,
    replace: bool = False,
) -> Transfer:
    """Import a file under its own name, all or nothing; `name` is what it must be, if given.

    It is read through and checked before anything is written, and visible once it is whole. An
    import that was cut off is begun again. `replace` deletes what has the name once the file is
    known to be good. Raises InputError for a file that is damaged, of another format or of another
    name, and the kind's error where the name is taken.
    """
    path = Path(path)
    manifest = read_manifest(path)
    if manifest.kind != kind.name or name not in (None, manifest.name):
        raise InputError(
            f"the file has the {_CALLED[manifest.kind]} {manifest.name!r}, "
            f"no {_CALLED[kind.name]} {name or ''}".rstrip(),
            where=str(path),
            hint="Use `kgp-neo4j import`, which takes it under its own name.",
        )
    kind.check_name(manifest.name)
    with _intact(lambda: str(path)):
        kind.check(properties=manifest.properties, times=manifest.times)
        kind.check_root(manifest.properties)
    for member in (_NODES, _RELATIONSHIPS):
        deque(_records(path, manifest, kind, member), maxlen=0)
    if database.read("transfer/root", name=manifest.name, kind=kind.label):
        if not replace:
            what = f"there is a {_CALLED[kind.name]} {manifest.name!r} already"
            raise kind.error(what, hint="Replace it (--replace), or delete it first.")
        kind.delete(database, manifest.name)
    kind.discard(database, manifest.name)
    return _write(database, path, manifest, kind)


def _write(database: Database, path: Path, manifest: Manifest, kind: Kind) -> Transfer:
    """Import everything under a name that is free, all or nothing."""
    began, name = time.monotonic(), manifest.name
    mark = {"name": name, "load": uuid.uuid4().hex}
    try:
        database.write("transfer/begin", kind=kind.label, properties=manifest.properties, **mark)
        with bar("import", manifest.nodes.lines + manifest.relationships.lines) as progress:
            ids: list[str] = []
            for nodes in in_batches(_records(path, manifest, kind, _NODES), _BATCH):
                rows = [asdict(node) | {"at": at} for at, node in enumerate(nodes)]
                for row in rows:
                    for key, vector in row["vectors"].items():
                        row["vectors"][key] = np.frombuffer(vector, "<f4").tolist()
                written = database.write("transfer/write_nodes", rows=rows, **mark)
                if len(written) != len(rows):
                    _changed(name)
                ids += [row["node"] for row in sorted(written, key=lambda row: int(row["at"]))]
                progress.update(len(rows))
            for edges in in_batches(_records(path, manifest, kind, _RELATIONSHIPS), 2 * _BATCH):
                rows = [asdict(e) | {"start": ids[e.start], "end": ids[e.end]} for e in edges]
                (result,) = database.write("transfer/write_relationships", rows=rows, **mark)
                if result["written"] != len(rows):
                    _changed(name)
                progress.update(len(rows))
        kind.make_indexes(database, manifest.properties)
        if not database.write("transfer/finish", times=manifest.times, **mark):
            _changed(name)
    except BaseException as error:
        # Where the mark is gone, another process has deleted what was there, and has the name.
        with contextlib.suppress(KgpError):
            if database.write("transfer/take", kind=kind.label, **mark)[0]["marks"]:
                kind.discard(database, name)
        if isinstance(error, DatabaseError):
            error.hint = (
                "The import was undone, or will be by the next one; nothing of it is visible. "
                f"{error.hint or 'Import the file again.'}"
            )
        raise
    return _transfer(manifest, path, began)


def _records(path: Path, manifest: Manifest, kind: Kind, member: str) -> Iterator[Any]:
    """Yield the checked record of each line; raises InputError for another count or sum."""
    decode = msgspec.json.Decoder({_NODES: Node, _RELATIONSHIPS: Relationship}[member]).decode
    digest, count = hashlib.sha256(), 0
    with (
        _intact(lambda: f"{path}: {member}:{count}"),
        zipfile.ZipFile(path) as archive,
        archive.open(member) as file,
    ):
        while line := file.readline(_LONGEST_LINE + 1):
            count += 1
            if len(line) > _LONGEST_LINE:
                raise InputError("a line without end")
            digest.update(line)
            record = decode(line)
            kind.admit(record, manifest)
            yield record
        if _Part(count, digest.hexdigest()) != getattr(manifest, member.removesuffix(".jsonl")):
            raise InputError("its SHA-256 is another")


def _transfer(manifest: Manifest, path: Path, began: float) -> Transfer:
    counts = manifest.nodes.lines, manifest.relationships.lines
    size, seconds = path.stat().st_size, round(time.monotonic() - began, 3)
    return Transfer(manifest.name, manifest.kind, str(path), *counts, size, seconds)


def discard(database: Database, label: str, name: str, undo: Callable[[], object]) -> bool:
    """Delete what an import that was cut off has left, and stop one that runs; return if any."""
    if not database.write("transfer/take", name=name, kind=label)[0]["marks"]:
        return False
    if not database.read("transfer/root", name=name, kind=label):
        undo()
    database.write("transfer/take", name=name, kind=label, forget=True)
    return True
