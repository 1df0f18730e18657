"""Decides which document each file becomes: files of the same contents are one, with many sources.

A document has the id of the source that it was made for. Each further source is a node with the id
that a document of its own would have had. Records in a file and paragraphs of a data set have a
key, and are always documents of their own.
"""

import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kgp_neo4j.corpus.load.ids import id_of
from kgp_neo4j.environment.files import is_gone, stem
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.types.corpus import SourceDocument


@dataclass(slots=True)
class Placed:
    """The documents of a batch, what is stored of them, and how their sources change.

    `documents`, `stored` and `contents` are by the document's id, `left` and `placed` the rows of
    `load/place_sources`. `deserted` documents have no source any longer. `copies` counts sources
    whose document is another one's.
    """

    documents: dict[str, SourceDocument] = field(default_factory=dict)
    stored: dict[str, Row] = field(default_factory=dict)
    contents: dict[str, str | None] = field(default_factory=dict)
    left: list[Row] = field(default_factory=list)
    placed: list[Row] = field(default_factory=list)
    deserted: set[str] = field(default_factory=set)
    copies: int = 0


def _contents(document: SourceDocument) -> str | None:
    """Return what files share that hold the same but for their names, None where there is a key."""
    if document.key:
        return None
    title = document.title
    named = title == stem(Path(document.source)) or title in document.text
    parts = (document.pages, document.tables, document.sections)
    return id_of("" if named else title, document.text, repr(parts))


def place(
    database: Database, corpus: str, batch: Mapping[str, SourceDocument], moved: dict[str, str]
) -> Placed:
    """Find the document of each source in a batch, both by the source's id; nothing is written.

    A source stays with a document that has its contents, or joins one. Otherwise it changes its
    document if no other source stays with that, and gets a new one if there is any. Sources in
    `moved` are gone: where one of the batch has what such a one had, it is set there.
    """
    contents = {id_: _contents(document) for id_, document in batch.items()}
    asked = [{"id": id_, "contents": content} for id_, content in contents.items()]
    found: dict[str, dict[str, Row]] = defaultdict(dict)
    known: dict[str, Row] = {}
    for row in database.read("load/stored", corpus=corpus, rows=asked):
        known[row["id"]] = row
        # The document of the source's id may be that of others by now.
        if row["by"] != "id" or row["sources"][0] == batch[row["asked"]].source:
            found[row["asked"]].setdefault(row["by"], row)
    homes, targets = dict[str, str](), dict[str, str]()
    staying = {id_: set(row["sources"]) for id_, row in known.items()}
    for id_, document in batch.items():
        same = found[id_].get("contents")
        if home := found[id_].get("source") or found[id_].get("id"):
            homes[id_] = home["id"]
            staying[home["id"]].discard(document.source)
            if home["contents"] == contents[id_]:
                same = home
        if same:
            targets[id_] = same["id"]
            staying[same["id"]].add(document.source)
    made: dict[str, str] = {}
    for id_ in batch:
        if id_ not in targets:
            content = contents[id_] or id_
            if content not in made:
                made[content] = id_ if id_ not in known else uuid.uuid4().hex
                if id_ in homes and not staying[homes[id_]]:
                    made[content] = homes[id_]
                staying.setdefault(made[content], set()).add(batch[id_].source)
            targets[id_] = made[content]
    placed = Placed(contents={targets[id_]: contents[id_] for id_ in batch})
    for id_, document in batch.items():
        target, own = targets[id_], None
        if target in known:
            stored = placed.stored[target] = known[target]
            is_same = stored["contents"] == contents[id_]
            if is_same and document.source not in stored["sources"]:
                # A folder may have moved with all its files.
                moved.update({n: "" for n in stored["sources"] if n not in moved and is_gone(n)})
            own = next((name for name in stored["sources"] if name not in moved), None)
            if is_same:
                for name in moved.keys() & stored["sources"]:
                    moved[name] = moved[name] or document.source
                    placed.left.append({"document": target, "source": name})
                if own not in (None, document.source):
                    document = replace(document, title=stored["title"], source=own)
        if target not in placed.documents or batch[id_].source == own:
            placed.documents[target] = document
    for id_, document in batch.items():
        target, home_id = targets[id_], homes.get(id_, targets[id_])
        row = {"document": target, "source": document.source}
        is_copy = placed.documents[target].source != document.source
        placed.copies += is_copy
        if found[id_].get("source", {}).get("id") != target and (is_copy or target != id_):
            placed.placed.append(row | {"id": id_})
        if home_id != target:
            placed.left.append(row | {"document": home_id})
            if not staying[home_id]:
                placed.deserted.add(home_id)
    return placed
