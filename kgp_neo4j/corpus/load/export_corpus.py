"""Exports a corpus into one file, and imports it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from kgp_neo4j.corpus.load.delete import delete_corpus, discard_import
from kgp_neo4j.corpus.load.ids import checked_corpus, corpus_scope, document_id, part_id, passage_id
from kgp_neo4j.corpus.load.loading import language_of
from kgp_neo4j.corpus.load.shelf import LARGE
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.export_files import ExportFile, Kind, export, unusable
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
    listing="transfer/corpus_nodes",
    properties={
        "text": "agent answer caption corpus countedBy countsOf date details document edge encoder "
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
    relationship_types=tuple(_ENDS),
)


class _Importer:
    """Gives nodes their ids under the name of a corpus; parents come before their parts."""

    kind: ClassVar[Kind] = CORPUS

    def __init__(self, name: str, shelf: str, *, renamed: bool, vectors: bool) -> None:
        self._name = name
        self._shelf = f"{shelf[:1].upper()}{shelf[1:]}Passage"
        self._renamed = renamed
        self._vectors = vectors
        #: New ids of documents and tables by their old ones, with the header rows of tables.
        self._parents: dict[str, tuple[str, int]] = {}
        #: The place in `_LABELS` of each node.
        self._labels = bytearray()
        self.passages = 0

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
            # Without vectors, passages have to be embedded again, and joined by their embeddings.
            is_known = properties["type"] in ("keywords", "entities")
            return labels if self._vectors or is_known else None
        if label in ("Keyword", "NamedEntity"):
            _ = properties["text" if label == "Keyword" else "name"]
            return labels
        properties["id"] = self._id(label, properties)
        if label != "Passage":
            return labels
        self.passages += 1
        properties["scope"] = corpus_scope(self._name)
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
    for a file that is damaged or of another format, CorpusError where the name is taken.
    """
    with ExportFile(Path(path)) as file:
        if file.kind != "corpus":
            raise InputError(
                "the file has a knowledge graph, no corpus",
                where=str(path),
                hint="Use KnowledgeGraph.import_, or `kgp-neo4j import`.",
            )
        chosen = checked_corpus(file.name if name is None else name)
        properties = file.manifest.properties
        language = str(properties.get("language"))
        if language not in languages():
            unusable("a language that is none", str(path))
        renamed = chosen != file.name
        vectors = file.manifest.vectors
        checked = _Importer(chosen, "", renamed=renamed, vectors=vectors)
        file.check(checked)
        large, scope = checked.passages >= LARGE, corpus_scope(chosen)
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
        properties |= {"scope": scope, "shelf": shelf}
        properties.pop("moving", None)
        if not vectors:
            # Its passages have to be embedded again, and joined by their embeddings.
            properties["complete"] = False

        def make_indexes() -> None:
            if large:
                database.make_indexes("load/own_indexes", corpus=chosen)
                database.read("install/await_indexes")

        return file.write(
            database,
            chosen,
            _Importer(chosen, shelf, renamed=renamed, vectors=vectors),
            prepare=make_indexes,
            undo=lambda: discard_import(database, chosen),
        )
