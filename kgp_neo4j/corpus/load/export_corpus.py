"""Exports a corpus into one file, and imports it."""

from __future__ import annotations

from pathlib import Path

from kgp_neo4j.corpus.load.delete import delete_corpus, discard_import
from kgp_neo4j.corpus.load.ids import checked_corpus, corpus_scope, document_id, part_id, passage_id
from kgp_neo4j.corpus.load.loading import language_of
from kgp_neo4j.corpus.load.own_indexes import LARGE
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.export_files import Kind, Manifest, export, import_file
from kgp_neo4j.text.language import languages
from kgp_neo4j.types.errors import CorpusError, InputError, no_corpus
from kgp_neo4j.types.transfer import Transfer

__all__ = ["CORPUS", "export_corpus", "import_corpus"]

_CJK = "CjkPassage"
_LABELS = (
    *("Document", "Table", "Page", "Section", "Passage", "Column", "Row", "Cell"),
    *("Keyword", "NamedEntity", "Question", "Graph"),
)
#: The relationships that there may be.
_ENDS = {
    "HAS_PASSAGE": "Document-Passage Page-Passage Section-Passage",
    "HAS_PAGE": "Document-Page",
    "HAS_SECTION": "Document-Section",
    "HAS_TABLE": "Document-Table Page-Table",
    "HAS_ROW": "Table-Row",
    "HAS_COLUMN": "Table-Column",
    "HAS_CELL": "Row-Cell Column-Cell",
    "NEXT": "Passage-Passage",
    "HAS_KEYWORD": "Passage-Keyword",
    "SHARES_KEYWORD": "Passage-Passage",
    "MENTIONS": "Passage-Document Passage-NamedEntity",
    "SHARES_ENTITY": "Passage-Passage",
    "SIMILAR_ST": "Passage-Passage",
    "SIMILAR_MDR": "Passage-Passage",
    "VISITED": "Question-Passage",
}
CORPUS = Kind(
    name="corpus",
    label="Corpus",
    properties={
        "text": "agent answer caption corpus date details document edge encoder "
        "fingerprint footer header heading id key keywordMarks label language linkedBy madeOf "
        "markdown mentionMarks sharedEntityMarks sharedKeywordMarks name norm reason run scope "
        "section settings sha256 shelf signals source surface table text title type unit",
        "whole": "cells characters column columnSpan count dimension documentFrequency edges end "
        "headerRows level links markdownRows nodes number order page pages position rank row "
        "rowSpan rows start step tables",
        "number": "coherence commonness inherited judged match score seconds tfidf value weight",
        "truth": "complete covered inKeywordGraph moving named namesTitle owned recognised "
        "structured unfinished",
        "time": "askedAt createdAt loadedAt madeAt",
        "vector": "embedding mdrEmbedding",
        "list of text": "entities keywords passages titles",
        "list of whole": "offsets pageNumbers path",
    },
    # The labels of the indexes that search a passage depend on the database that it is in.
    choose_labels=lambda labels: [label for label in (*_LABELS, _CJK) if label in labels],
    check_name=checked_corpus,
    delete=delete_corpus,
    discard=discard_import,
    error=CorpusError,
    relationship_types=tuple(_ENDS),
)


class _Importer:
    """Gives nodes their ids under the name of a corpus; parents come before their parts."""

    def __init__(self, name: str, manifest: Manifest, shelf: str = "") -> None:
        self._name, self._manifest = name, manifest
        self._language = str(manifest.properties.get("language"))
        if self._language not in languages():
            raise InputError("a language that is none")
        self._shelf = shelf
        self._renamed = name != manifest.name
        #: New ids of documents and tables by their old ones, with the header rows of tables.
        self._parents: dict[str, tuple[str, int]] = {}
        #: The place in `_LABELS` of each node.
        self._labels = bytearray()
        self._graphs: set[str] = set()
        self._passages = 0

    def writer(self, database: Database, properties: Row) -> _Importer:
        language_of(database, self._name, self._language, ())
        scope = corpus_scope(self._name)
        shelf = scope if self._passages >= LARGE else self._language
        properties |= {"scope": scope, "shelf": shelf}
        properties.pop("moving", None)
        if not self._manifest.vectors:
            # Its passages have to be embedded again, and joined by their embeddings.
            properties["complete"] = False
        return _Importer(self._name, self._manifest, shelf)

    def make_indexes(self, database: Database) -> None:
        if self._passages >= LARGE:
            database.make_indexes("load/own_indexes", corpus=self._name)
            database.read("install/await_indexes")

    def place_node(self, labels: list[str], properties: Row) -> list[str] | None:
        label = labels[0] if labels else ""
        if label not in _LABELS or labels[1:] not in ([], [_CJK] if label == "Passage" else []):
            raise InputError("a label that no corpus has")
        self._labels.append(_LABELS.index(label))
        properties["corpus"] = self._name
        if label == "Question":
            # A renamed corpus has other passages than the ones that a trace tells of.
            return None if self._renamed else labels
        if label == "Graph":
            type_ = properties["type"]
            if type_ in self._graphs:
                raise InputError("two graphs of one type")
            self._graphs.add(type_)
            # Without vectors, passages have to be embedded again, and joined by their embeddings.
            is_known = type_ in ("keywords", "entities")
            return labels if self._manifest.vectors or is_known else None
        if label in ("Keyword", "NamedEntity"):
            _ = properties["text" if label == "Keyword" else "name"]
            return labels
        properties["id"] = self._id(label, properties)
        if label != "Passage":
            return labels
        self._passages += 1
        properties["scope"] = corpus_scope(self._name)
        return [*labels, f"{self._shelf[:1].upper()}{self._shelf[1:]}Passage"]

    def _id(self, label: str, p: Row) -> str:
        """Return the id of a node, and set that of what it belongs to."""
        if label == "Document":
            id_ = document_id(self._name, p["source"], p["key"])
            self._parents[p["id"]] = id_, 0
            return id_
        above = "table" if label in ("Row", "Column", "Cell") else "document"
        p[above], headers = self._parents[p[above]]
        whole = p[above]
        if label == "Passage":
            return passage_id(whole, p["position"], p["text"])
        if label == "Cell":
            return part_id(whole, "cell", p["row"] + headers, p["column"])
        id_ = part_id(whole, label.lower(), p["number"] if label == "Page" else p["order"])
        if label == "Table":
            self._parents[p["id"]] = id_, p["headerRows"]
        return id_

    def place_relationship(self, type_: str, start: int, end: int, properties: Row) -> None:
        ends = f"{_LABELS[self._labels[start]]}-{_LABELS[self._labels[end]]}"
        if ends not in _ENDS.get(type_, "").split():
            raise InputError("a relationship that no corpus has")


def export_corpus(
    database: Database,
    corpus: str,
    path: str | Path,
    *,
    vectors: bool = True,
    overwrite: bool = False,
) -> Transfer:
    """Write a corpus into one file, which is there whole or not at all; the corpus stays.

    Without `vectors` the file is smaller, and the importer has to run `connect`. Raises CorpusError
    where there is no such corpus, InputError where the file exists and `overwrite` is false.
    """
    if not database.read("inspect/state", corpus=corpus):
        raise no_corpus(corpus)
    return export(database, CORPUS, corpus, Path(path), vectors=vectors, overwrite=overwrite)


def import_corpus(
    database: Database, path: str | Path, *, name: str | None = None, replace: bool = False
) -> Transfer:
    """Import a corpus from a file of `export_corpus`, under another `name` if one is given.

    The file is read through and checked before anything is written, and the corpus is visible once
    it is whole. An import that was cut off is begun again. `replace` deletes a corpus of that name
    once the file is found good. Under another name, kept traversals are left out. Raises InputError
    for a file that is damaged or of another format, CorpusError where the name is taken.
    """
    return import_file(database, CORPUS, Path(path), _Importer, name=name, replace=replace)
