"""Exports a corpus into one file, and imports it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from kgp_neo4j.corpus.load.delete import delete_corpus, discard_import
from kgp_neo4j.corpus.load.ids import checked_corpus, corpus_scope, document_id, part_id, passage_id
from kgp_neo4j.corpus.load.loading import language_of
from kgp_neo4j.corpus.load.shelf import LARGE
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.portable import Archive, export, unusable
from kgp_neo4j.text.language import languages
from kgp_neo4j.types.errors import CorpusError, InputError, no_corpus
from kgp_neo4j.types.transfer import Transfer

__all__ = ["CORPUS", "export_corpus", "import_corpus"]

_CJK = "CjkPassage"
#: The types of all properties, each the same on every label and relationship.
_KNOWN = {
    "text": "agent answer caption corpus date details document edge encoder entitiesOf "
    "entitySettings fingerprint footer header heading id key keywordMarks keywordSettings "
    "keywordsOf label language linkedBy markdown mentionMarks sharedEntityMarks sharedKeywordMarks "
    "mdrEncoder mdrFingerprint mdrSettings name norm reason scope section settings sha256 shelf "
    "signals similaritySettings source surface table text title type unit",
    "whole": "cells characters column columnSpan count dimension documentFrequency end headerRows "
    "level markdownRows mdrDimension number order page pages position rank row rowSpan rows start "
    "step tables",
    "number": "coherence commonness inherited judged match score seconds tfidf value weight",
    "truth": "complete covered inKeywordGraph moving named namesTitle owned recognised structured",
    "time": "askedAt connectedAt createdAt loadedAt",
    "vector": "embedding mdrEmbedding",
    "list of text": "connected entities keywords making passages titles",
    "list of whole": "offsets pageNumbers path",
}
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
_LABELS = (
    *("Document", "Table", "Page", "Section", "Passage", "Column", "Row", "Cell"),
    *("Keyword", "NamedEntity", "Question"),
)
_ALLOWED = {(type_, ends) for type_, all_ in _ENDS.items() for ends in all_.split()}


class _Corpus:
    """What an export of a corpus has."""

    name = "corpus"
    label = "Corpus"
    listing = "transfer/corpus_nodes"
    known: ClassVar = {name: type_ for type_, all_ in _KNOWN.items() for name in all_.split()}

    def relationships(self, name: str) -> dict[str, Any]:
        return {"types": list(_ENDS)}

    def labels(self, labels: Sequence[str]) -> list[str]:
        # The labels of the indexes that search a passage depend on the database that it is in.
        return [label for label in (*_LABELS, _CJK) if label in labels]


CORPUS: Any = _Corpus()


class _Placing:
    """Gives nodes their ids under the name of a corpus; parents come before their parts."""

    def __init__(self, name: str, shelf: str, *, renamed: bool) -> None:
        self._name = name
        self._scope = corpus_scope(name)
        self._shelf = f"{shelf[:1].upper()}{shelf[1:]}Passage"
        self._renamed = renamed
        #: New ids of documents and tables by their old ones, with the header rows of tables.
        self._parents: dict[str, tuple[str, int]] = {}
        #: The place in `_LABELS` of each node.
        self._labels = bytearray()
        self.passages = 0

    def node(self, labels: list[str], properties: Row) -> list[str] | None:
        label = labels[0] if labels else ""
        if label not in _LABELS or labels[1:] not in ([], [_CJK] if label == "Passage" else []):
            raise InputError("a label that no corpus has")
        self._labels.append(_LABELS.index(label))
        properties["corpus"] = self._name
        if label == "Question":
            # A renamed corpus has other passages than the ones that a trace tells of.
            return None if self._renamed else labels
        if label in ("Keyword", "NamedEntity"):
            _ = properties["text" if label == "Keyword" else "name"]
            return labels
        properties["id"] = self._id(label, properties)
        if label != "Passage":
            return labels
        self.passages += 1
        properties["scope"] = self._scope
        return [*labels, self._shelf]

    def _id(self, label: str, p: Row) -> str:
        """Return the id of a node, and set that of what it belongs to."""
        if label == "Document":
            made = document_id(self._name, p["source"], p["key"])
            self._parents[p["id"]] = made, 0
            return made
        above = "table" if label in ("Row", "Column", "Cell") else "document"
        p[above], headers = self._parents[p[above]]
        whole = p[above]
        if label == "Passage":
            return passage_id(whole, p["position"], p["text"])
        if label == "Cell":
            return part_id(whole, "cell", p["row"] + headers, p["column"])
        made = part_id(whole, label.lower(), p["number"] if label == "Page" else p["order"])
        if label == "Table":
            self._parents[p["id"]] = made, p["headerRows"]
        return made

    def relationship(self, type_: str, start: int, end: int, properties: Row) -> None:
        ends = f"{_LABELS[self._labels[start]]}-{_LABELS[self._labels[end]]}"
        if (type_, ends) not in _ALLOWED:
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
    if not database.read("load/language", corpus=corpus):
        raise no_corpus(corpus)
    return export(database, CORPUS, corpus, Path(path), vectors=vectors, overwrite=overwrite)


def import_corpus(
    database: Database, path: str | Path, *, name: str | None = None, replace: bool = False
) -> Transfer:
    """Import a corpus from a file of `export_corpus`, under another `name` if one is given.

    The file is read through and checked before anything is written, and the corpus is visible once
    it is whole. An import that was cut off is begun again. `replace` deletes a corpus of that name
    once the file is found good. Under another name, kept traversals are left out. Raises InputError
    for a file that is damaged or of a newer release, CorpusError where the name is taken.
    """
    with Archive(Path(path)) as archive:
        if archive.kind != "corpus":
            raise InputError(
                "the file has a knowledge graph, no corpus",
                where=str(path),
                hint="Use KnowledgeGraph.import_, or `kgp-neo4j import`.",
            )
        chosen = checked_corpus(archive.name if name is None else name)
        root, _ = archive.root(CORPUS)
        language = str(root.get("language"))
        if language not in languages():
            unusable("a language that is none", str(path))
        renamed = chosen != archive.name
        checking = _Placing(chosen, "", renamed=renamed)
        archive.check(CORPUS, checking)
        large = checking.passages >= LARGE
        scope = corpus_scope(chosen)
        shelf = scope if large else language
        if database.read("load/language", corpus=chosen):
            if not replace:
                raise CorpusError(
                    f"there is a corpus {chosen!r} already",
                    hint="Import it under another name (--as NAME), or replace it (--replace).",
                )
            delete_corpus(database, chosen)
        discard_import(database, chosen)
        language_of(database, chosen, language, ())
        told = archive.manifest["properties"]
        told |= {"scope": scope, "shelf": shelf}
        told.pop("moving", None)
        if not archive.manifest["vectors"]:
            # Its passages have to be embedded again, and joined by their embeddings.
            told["complete"] = False
            graphs = told.get("connected", [])
            told["connected"] = [graph for graph in graphs if graph not in ("similarity", "mdr")]

        def prepare() -> None:
            if large:
                database.make_indexes("load/own_indexes", corpus=chosen)
                database.read("install/await_indexes")

        return archive.write(
            database,
            CORPUS,
            chosen,
            lambda: _Placing(chosen, shelf, renamed=renamed),
            prepare,
            lambda: discard_import(database, chosen),
        )
