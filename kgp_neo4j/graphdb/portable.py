"""Writes a part of the graph into one file and reads it back: streamed, checked, all or nothing.

The file is a zip of three members. `nodes.jsonl` has a line for each node, ordered by kind and key:
`{"l": labels, "p": properties, "t": times as texts, "v": vectors as base64 of float32}`;
`relationships.jsonl` has lines `[type, start, end, properties]`, where start and end count the
lines of nodes from 0; `manifest.json` has versions, the properties of the corpus or graph itself,
and the number of lines and the SHA-256 of both others. The same content makes the same lines.

Nothing in a file is trusted: a `Kind` says which labels, types and properties there may be, ids are
made anew, and everything reaches the database as parameters.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import os
import tempfile
import time
import uuid
import zipfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, NoReturn, Protocol

import numpy as np

from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.statements import folder
from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.types.errors import InputError, KgpError
from kgp_neo4j.types.transfer import Transfer

__all__ = ["Archive", "Kind", "Line", "Placing", "content", "discard", "export", "unusable"]

FORMAT = 1
_MANIFEST, _NODES, _RELATIONSHIPS = "manifest.json", "nodes.jsonl", "relationships.jsonl"
#: Nodes of one read; nodes and relationships of one write.
_PAGE, _BATCH = 500, 1_000
#: Bytes of a line and of the manifest, at most.
_LONGEST, _LARGEST_MANIFEST = 64 << 20, 4 << 20
#: How much smaller a member may lie in the file than it is, once it is larger than `_LONGEST`.
_MOST_PACKED = 200
_DATE = (1980, 1, 1, 0, 0, 0)
_TYPES: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "whole": (int,),
    "number": (int, float),
    "truth": (bool,),
}


@dataclass(frozen=True, slots=True)
class Line:
    """A node as a file has it: labels, plain properties, times as texts, vectors."""

    labels: list[str]
    properties: Row
    times: dict[str, str]
    vectors: dict[str, list[float]]


class Placing(Protocol):
    """Gives what a file has its place under a name: checks it, and makes its ids anew."""

    def node(self, labels: list[str], properties: Row) -> list[str] | None:
        """Return the labels to write, None to leave the node out; changes the properties."""

    def relationship(self, type_: str, start: int, end: int, properties: Row) -> None:
        """Check a relationship between two nodes, by their lines; changes the properties."""


class Kind(Protocol):
    """What an export has: a corpus or a knowledge graph.

    `known` has the type of every property: text, whole, number, truth, time, vector, or "list of"
    one of the first four.
    """

    name: Literal["corpus", "graph"]
    label: str
    listing: str
    known: Mapping[str, str]

    def relationships(self, name: str) -> dict[str, Any]:
        """Return the parameters that choose relationships in `transfer/relationships`."""

    def labels(self, labels: Sequence[str]) -> list[str]:
        """Return those of a node's labels that its line has."""


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
    listed: list[tuple[int, str, int]] = []
    prefix = ""
    for row in database.stream(kind.listing, name=name):
        prefix, _, number = row["node"].rpartition(":")
        listed.append((row["rank"], row["key"], int(number)))
    listed.sort()
    elements = np.fromiter((number for _, _, number in listed), np.int64, len(listed))
    del listed
    for page in _pages(elements, prefix):
        rows = {row["node"]: row for row in database.read_packed("transfer/nodes", nodes=page)}
        if len(rows) != len(page):
            _changed(name)
        for node in page:
            labels = kind.labels(rows[node]["labels"])
            yield _NODES, _json(_line(kind, labels, rows[node]["properties"], vectors))
    order = np.argsort(elements)
    ordered = elements[order]

    def place(node: str) -> int:
        number = int(node.rpartition(":")[2])
        at = int(np.searchsorted(ordered, number))
        if at == len(ordered) or ordered[at] != number:
            _changed(name)
        return int(order[at])

    for page in _pages(elements, prefix):
        found = database.read_packed(
            "transfer/relationships", nodes=page, **kind.relationships(name)
        )
        rows_ = [
            (place(r["start"]), r["type"], place(r["end"]), _known(kind, r["properties"]))
            for r in found
        ]
        lines = [(a, type_, b, _json([type_, a, b, p])) for a, type_, b, p in rows_]
        for *_, line in sorted(lines):
            yield _RELATIONSHIPS, line


def _pages(elements: Any, prefix: str) -> Iterator[list[str]]:
    for start in range(0, len(elements), _PAGE):
        yield [f"{prefix}:{number}" for number in elements[start : start + _PAGE]]


def _changed(name: str) -> NoReturn:
    raise InputError(
        "it changed while it was exported",
        where=name,
        hint="Export it again once nothing is written into it.",
    )


def _known(kind: Kind, properties: Row) -> Row:
    """Return the properties, or raise where the format has no place for one."""
    if unknown := properties.keys() - kind.known.keys():
        raise InputError(
            f"a {kind.name} has no property {', '.join(sorted(unknown))}, so that no import could "
            "take it",
            hint="Remove what was added by hand, or upgrade kgp-neo4j.",
        )
    return properties


def _line(kind: Kind, labels: list[str], properties: Row, vectors: bool) -> Row:
    plain: Row = {}
    made: dict[str, Row] = {"p": plain, "t": {}, "v": {}}
    for name, value in _known(kind, properties).items():
        if kind.known[name] == "time":
            made["t"][name] = value.iso_format()
        elif kind.known[name] == "vector":
            if vectors:
                made["v"][name] = base64.b64encode(np.asarray(value, "<f4").tobytes()).decode()
        else:
            plain[name] = value
    return {"l": labels} | {key: part for key, part in made.items() if part}


def _json(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode() + b"\n"


def export(
    database: Database,
    kind: Kind,
    name: str,
    path: Path,
    *,
    vectors: bool,
    overwrite: bool,
) -> Transfer:
    """Write a corpus or graph that exists into a file, which is there whole or not at all.

    Raises InputError where the file exists and `overwrite` is false, where it cannot be written,
    and where the corpus or graph changes meanwhile.
    """
    began = time.monotonic()
    if path.exists() and not overwrite:
        raise InputError("the file exists", where=str(path), hint="Add --overwrite to replace it.")
    root = _root(database, kind, name)
    made = ""
    try:
        number, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(number, "w+b") as file:
            parts = _write_members(file, database, kind, name, root, vectors)
            file.flush()
            os.fsync(file.fileno())
        if _root(database, kind, name) != root:
            _changed(name)
        Path(made).chmod(0o666 & ~_umask())  # a temporary file is its owner's alone
        Path(made).replace(path)
    except OSError as error:
        raise InputError(
            f"the export cannot be written ({error.strerror})",
            where=str(path),
            hint="Choose a file on a disk with enough space.",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            Path(made).unlink()
    return Transfer(
        name=name,
        kind=kind.name,
        file=str(path),
        nodes=parts[_NODES]["lines"],
        relationships=parts[_RELATIONSHIPS]["lines"],
        vectors=vectors,
        bytes=path.stat().st_size,
        seconds=round(time.monotonic() - began, 3),
    )


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _root(database: Database, kind: Kind, name: str) -> Row:
    found = database.read("transfer/root", name=name, kind=kind.label)
    if not found:
        _changed(name)
    return _line(kind, [], found[0]["properties"], True)


def _write_members(
    file: IO[bytes], database: Database, kind: Kind, name: str, root: Row, vectors: bool
) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    lines = content(database, kind, name, vectors=vectors)
    held = next(lines, None)
    with zipfile.ZipFile(file, "w") as archive, bar("export", None) as progress:
        for member in (_NODES, _RELATIONSHIPS):
            digest, count = hashlib.sha256(), 0
            with archive.open(_member(member), "w", force_zip64=True) as out:
                while held is not None and held[0] == member:
                    out.write(held[1])
                    digest.update(held[1])
                    count += 1
                    progress.update(1)
                    held = next(lines, None)
            parts[member] = {"lines": count, "sha256": digest.hexdigest()}
        manifest = {
            "format": FORMAT,
            "layout": _layout(),
            "version": metadata.version("kgp-neo4j"),
            "kind": kind.name,
            "vectors": vectors,
            "properties": root.get("p", {}),
            "times": root.get("t", {}),
            "parts": parts,
        }
        text = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True)
        archive.writestr(_member(_MANIFEST), text)
    return parts


def _member(name: str) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name, _DATE)
    made.compress_type = zipfile.ZIP_DEFLATED
    return made


def _layout() -> int:
    return len(folder("schema/upgrades"))


# --- In -------------------------------------------------------------------------------------------


class Archive:
    """An export that is read; close it, or use it with `with`.

    Opening it checks the manifest and that the members are there; raises InputError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: zipfile.ZipFile | None = None
        try:
            self._file = zipfile.ZipFile(path)
            self._check_members(self._file)
            with self._file.open(_MANIFEST) as member:
                self.manifest = _parsed(member.read(_LARGEST_MANIFEST))
            self._check_manifest()
        except OSError as error:
            self.close()
            raise InputError(
                f"the file cannot be read ({error.strerror})", where=str(path)
            ) from error
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
            self.close()
            unusable(str(error), str(path))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    @property
    def kind(self) -> str:
        """What the file has: "corpus" or "graph"."""
        return str(self.manifest["kind"])

    @property
    def name(self) -> str:
        """The name that it was exported under."""
        return str(self.manifest["properties"]["name"])

    def root(self, kind: Kind) -> tuple[Row, dict[str, str]]:
        """Return the properties and the times of the corpus or graph itself, checked."""
        properties, times = self.manifest["properties"], self.manifest["times"]
        self._check_properties(kind, properties, times, _MANIFEST)
        return dict(properties), dict(times)

    def check(self, kind: Kind, placing: Placing) -> None:
        """Read everything once, and raise InputError unless all of it can be imported."""
        for _ in self._relationships(kind, placing, self._count(kind, placing)):
            pass

    def _count(self, kind: Kind, placing: Placing) -> int:
        return sum(1 for _ in self.nodes(kind, placing))

    def nodes(self, kind: Kind, placing: Placing) -> Iterator[Line | None]:
        """Yield the nodes under their new ids, None for one that is left out."""
        for number, value in self._lines(_NODES):
            where = f"{self.path}: {_NODES}:{number}"
            if not isinstance(value, dict) or not value.keys() <= {"l", "p", "t", "v"}:
                unusable("a line is no node", where)
            labels: Any = value.get("l")
            properties, times = value.get("p", {}), value.get("t", {})
            if not _fits(labels, "list of text"):
                unusable("a node's labels are no list of texts", where)
            self._check_properties(kind, properties, times, where)
            vectors = {
                name: _vector(kind, name, text, where) for name, text in value.get("v", {}).items()
            }
            try:
                placed = placing.node(labels, properties)
            except (KeyError, TypeError, ValueError) as error:
                unusable(f"a node without its place: {error!r}", where)
            except InputError as error:
                unusable(error.what, where)
            yield None if placed is None else Line(placed, properties, times, vectors)

    def _relationships(
        self, kind: Kind, placing: Placing, nodes: int
    ) -> Iterator[tuple[str, int, int, Row]]:
        for number, value in self._lines(_RELATIONSHIPS):
            where = f"{self.path}: {_RELATIONSHIPS}:{number}"
            match value:
                case [str(type_), int(start), int(end), dict(properties)] if (
                    0 <= start < nodes and 0 <= end < nodes
                ):
                    self._check_properties(kind, properties, {}, where)
                    try:
                        placing.relationship(type_, start, end, properties)
                    except InputError as error:
                        unusable(error.what, where)
                    yield type_, start, end, properties
                case _:
                    unusable("a line is no relationship", where)

    def write(
        self,
        database: Database,
        kind: Kind,
        name: str,
        make_placing: Callable[[], Placing],
        prepare: Callable[[], object],
        undo: Callable[[], object],
    ) -> Transfer:
        """Import everything under a name, all or nothing.

        The name must be free, and nothing left there (`discard`). `prepare` is called before the
        last step, which makes the whole visible at once; `undo` discards what is there.
        """
        began = time.monotonic()
        root, times = self.root(kind)
        load = uuid.uuid4().hex
        mark = {"name": name, "load": load}
        root["name"] = name
        try:
            database.write("transfer/begin", kind=kind.label, properties=root, **mark)
            with bar("import", sum(p["lines"] for p in self.manifest["parts"].values())) as done:
                placing = make_placing()
                elements, prefix = array("q"), ""
                for rows in _batches(self._node_rows(kind, placing), _BATCH):
                    kept = [row for row in rows if row["labels"]]
                    found = database.write("transfer/write_nodes", rows=kept, **mark)
                    written = {row["at"]: row["node"] for row in found}
                    for row in rows:
                        if not row["labels"]:
                            elements.append(-1)
                            continue
                        if row["at"] not in written:
                            _taken(name)
                        prefix, _, number = written[row["at"]].rpartition(":")
                        elements.append(int(number))
                    done.update(len(rows))
                values = self._relationship_rows(kind, placing, elements, prefix)
                relationships = 0
                for edges in _batches(values, 2 * _BATCH):
                    (count,) = database.write("transfer/write_relationships", rows=edges, **mark)
                    if count["written"] != len(edges):
                        _taken(name)
                    relationships += len(edges)
                    done.update(len(edges))
            prepare()
            if not database.write("transfer/finish", times=times, **mark):
                _taken(name)
        except BaseException as error:
            # Where the mark is gone, another process has deleted what was there, and has the name.
            with contextlib.suppress(KgpError):
                if {"load": load} in database.read(
                    "transfer/unfinished", name=name, kind=kind.label
                ):
                    undo()
            if isinstance(error, KgpError) and not isinstance(error, InputError):
                raise type(error)(
                    error.what,
                    where=error.where,
                    hint="The import was undone, or will be by the next one; nothing of it is "
                    f"visible. {error.hint or 'Import the file again.'}",
                ) from error
            raise
        return Transfer(
            name=name,
            kind=kind.name,
            file=str(self.path),
            nodes=sum(number >= 0 for number in elements),
            relationships=relationships,
            vectors=self.manifest["vectors"],
            bytes=self.path.stat().st_size,
            seconds=round(time.monotonic() - began, 3),
        )

    def _node_rows(self, kind: Kind, placing: Placing) -> Iterator[Row]:
        for at, line in enumerate(self.nodes(kind, placing)):
            if line is None:
                yield {"at": at, "labels": []}
            else:
                yield {
                    "at": at,
                    "labels": line.labels,
                    "properties": line.properties,
                    "times": line.times,
                    "vectors": line.vectors,
                }

    def _relationship_rows(
        self, kind: Kind, placing: Placing, elements: Sequence[int], prefix: str
    ) -> Iterator[Row]:
        for type_, a, b, properties in self._relationships(kind, placing, len(elements)):
            if elements[a] >= 0 and elements[b] >= 0:
                yield {
                    "start": f"{prefix}:{elements[a]}",
                    "end": f"{prefix}:{elements[b]}",
                    "type": type_,
                    "properties": properties,
                }

    def _check_members(self, file: zipfile.ZipFile) -> None:
        infos = file.infolist()
        if sorted(info.filename for info in infos) != [_MANIFEST, _NODES, _RELATIONSHIPS]:
            unusable("other members than an export has", str(self.path))
        for info in infos:
            packed = max(info.compress_size, 1)
            if info.file_size > _LONGEST and info.file_size > _MOST_PACKED * packed:
                unusable(f"{info.filename} unpacks without end", str(self.path))
            if info.filename == _MANIFEST and info.file_size > _LARGEST_MANIFEST:
                unusable("the manifest is too large", str(self.path))

    def _check_manifest(self) -> None:
        manifest = self.manifest
        where = str(self.path)
        if not isinstance(manifest, dict) or not _fits(manifest.get("format"), "whole"):
            unusable("no manifest", where)
        if not _fits(manifest.get("layout"), "whole"):
            unusable("no layout", where)
        if manifest["format"] > FORMAT or manifest["layout"] > _layout():
            raise InputError(
                f"a newer kgp-neo4j ({_shortened(manifest.get('version'))}) made the file",
                where=where,
                hint="Upgrade kgp-neo4j.",
            )
        parts = manifest.get("parts")
        if (
            manifest.get("kind") not in ("corpus", "graph")
            or not isinstance(manifest.get("vectors"), bool)
            or not isinstance(manifest.get("properties"), dict)
            or not isinstance(manifest.get("times"), dict)
            or not isinstance(manifest["properties"].get("name"), str)
            or not isinstance(parts, dict)
            or parts.keys() != {_NODES, _RELATIONSHIPS}
            or not all(isinstance(part, dict) for part in parts.values())
            or not all(_fits(part.get("lines"), "whole") for part in parts.values())
        ):
            unusable("the manifest is not whole", where)

    def _check_properties(self, kind: Kind, properties: Any, times: Any, where: str) -> None:
        if not isinstance(properties, dict) or not isinstance(times, dict):
            unusable("properties are no object", where)
        for name, value in properties.items():
            if kind.known.get(name) in (None, "time", "vector") or not _fits(
                value, kind.known[name]
            ):
                unusable(f"the property {_shortened(name)!r} has no place there", where)
        for name, value in times.items():
            if kind.known.get(name) != "time" or not _fits(value, "text"):
                unusable(f"the time {_shortened(name)!r} has no place there", where)

    def _lines(self, member: str) -> Iterator[tuple[int, Any]]:
        """Yield number and value of each line; raise InputError unless count and sum are right."""
        digest, count = hashlib.sha256(), 0
        where = f"{self.path}: {member}"
        assert self._file is not None
        try:
            with self._file.open(member) as file:
                while line := file.readline(_LONGEST + 1):
                    if len(line) > _LONGEST:
                        unusable("a line without end", where)
                    digest.update(line)
                    count += 1
                    yield count, _parsed(line)
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            unusable(str(error), where)
        part = self.manifest["parts"][member]
        if count != part["lines"] or digest.hexdigest() != part.get("sha256"):
            unusable("its SHA-256 is another", where)


def discard(database: Database, label: str, name: str, undo: Callable[[], object]) -> bool:
    """Delete what an import that was cut off has left under a name; return whether it had.

    An import that is running stops at its next batch.
    """
    if not database.read("transfer/unfinished", name=name, kind=label):
        return False
    database.write("transfer/take", name=name, kind=label)
    if not database.read("transfer/root", name=name, kind=label):
        undo()
    database.write("transfer/forget", name=name, kind=label)
    return True


def _batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, size)):
        yield batch


def _taken(name: str) -> NoReturn:
    raise InputError(
        "another import, load or deletion of it began meanwhile",
        where=name,
        hint="Import again once that has ended.",
    )


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        unusable(f"no JSON: {error}")


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


def _vector(kind: Kind, name: Any, text: Any, where: str) -> list[float]:
    if kind.known.get(name) != "vector" or not isinstance(text, str):
        unusable(f"the vector {_shortened(name)!r} has no place there", where)
    try:
        found = np.frombuffer(base64.b64decode(text, validate=True), "<f4")
    except (binascii.Error, ValueError) as error:
        unusable(f"no vector: {error}", where)
    if not 1 <= len(found) <= 4096 or not np.isfinite(found).all():
        unusable("a vector of no numbers", where)
    values: list[float] = found.astype(float).tolist()
    return values


def _fits(value: Any, type_: str) -> bool:
    if type_.startswith("list of "):
        return isinstance(value, list) and all(
            _fits(each, type_.removeprefix("list of ")) for each in value
        )
    if not isinstance(value, _TYPES[type_]) or (isinstance(value, bool) and type_ != "truth"):
        return False
    if isinstance(value, str):
        return is_storable(value)
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _shortened(value: object) -> str:
    return "".join(c if c.isprintable() else "?" for c in str(value)[:60])
