"""Exports a corpus into one file, and imports it."""

from functools import partial
from pathlib import Path

from kgp_neo4j.corpus.load.ids import checked_corpus, corpus_scope
from kgp_neo4j.corpus.load.loading import language_of
from kgp_neo4j.corpus.load.stored import (
    cjk_shelf,
    delete_corpus,
    discard_import,
    make_indexes,
    passage_label,
    require_corpus,
)
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.export_files import Kind, export, import_file
from kgp_neo4j.text.language import languages
from kgp_neo4j.types.corpus import Transfer
from kgp_neo4j.types.errors import CorpusError, InputError

_CJK = "CjkPassage"
_LABELS = (
    *("Document", "Table", "Page", "Section", "Passage", "Column", "Row", "Cell"),
    *("DocumentSource", "Keyword", "NamedEntity", "Question", "Graph"),
)
#: What orders and finds the nodes of a label, where that is no id.
_KEYS = {"Keyword": "text", "NamedEntity": "name", "Graph": "type"}
_TYPES = tuple(
    "HAS_PASSAGE HAS_PAGE HAS_SECTION HAS_TABLE HAS_ROW HAS_COLUMN HAS_CELL HAS_SOURCE NEXT "
    "HAS_KEYWORD SHARES_KEYWORD MENTIONS SHARES_ENTITY SIMILAR_ST SIMILAR_MDR VISITED "
    "LED_TO_ANSWER".split()
)


def _check_root(root: Row) -> None:
    scope = corpus_scope(root["name"])
    if root.get("language") not in languages():
        raise InputError("a language that is none")
    if root.get("scope") != scope or root.get("shelf") not in (scope, root["language"]):
        raise InputError("another scope than its name has")
    root.pop("moving", None)


def _place_node(root: Row, labels: list[str], properties: Row) -> list[str]:
    label = labels[0] if labels else ""
    if label not in _LABELS or labels[1:] not in ([], [_CJK] if label == "Passage" else []):
        raise InputError("a label that no corpus has")
    _ = properties[_KEYS.get(label, "id")]
    if properties["corpus"] != root["name"]:
        raise InputError("a node of another corpus")
    # Without it no file is opened that an import names: loaded again, the document has it.
    properties.pop("fileHash", None)
    if label != "Passage":
        return labels
    _ = properties["document"], properties["position"], properties["text"]
    if properties["scope"] != root["scope"]:
        raise InputError("a passage of another scope")
    # The labels of the indexes that search it.
    shelves = {root["shelf"], root["language"]} if root.get("small") else {root["shelf"]}
    if root.get("cjk") and _CJK in labels:
        shelves.add(cjk_shelf(root["scope"]))
    return [*labels, *map(passage_label, sorted(shelves))]


def _check_relationship(_: Row, type_: str, __: Row) -> None:
    if type_ not in _TYPES:
        raise InputError("a relationship that no corpus has")


def _make_indexes(database: Database, root: Row) -> None:
    language_of(database, root["name"], root["language"], ())
    if root["shelf"] == root["scope"]:
        make_indexes(database, root["name"], vectors=not root.get("small"))
        database.read("install/await_indexes")


CORPUS = Kind(
    name="corpus",
    label="Corpus",
    properties={
        "text": "agent answer caption contents corpus date details document edge encoder "
        "fileHash fingerprint footer header heading id key keywordMarks label language linkedBy "
        "madeOf markdown mentionMarks sharedEntityMarks sharedKeywordMarks name norm reason run "
        "scope section settings sha256 shelf source surface table text title total type unit",
        "whole": "cells characters column columnSpan count dimension documentFrequency edges end "
        "headerRows level links markdownRows nodes number order page pages position rank row "
        "rowSpan rows start step tables",
        "number": "coherence commonness inherited judged match score seconds tfidf value weight",
        "truth": "cjk complete covered inKeywordGraph moving named namesTitle owned raw recognised "
        "small structured unfinished",
        "time": "askedAt createdAt loadedAt madeAt",
        "vector": "embedding mdrEmbedding",
        "list of text": "entities keywords passages titles",
        "list of whole": "offsets pageNumbers path",
    },
    # The labels of the indexes that search a passage are given by the import.
    choose_labels=lambda labels: [label for label in (*_LABELS, _CJK) if label in labels],
    check_name=checked_corpus,
    delete=delete_corpus,
    discard=discard_import,
    check_root=_check_root,
    place_node=_place_node,
    check_relationship=_check_relationship,
    make_indexes=_make_indexes,
    error=CorpusError,
    relationship_types=_TYPES,
)


def export_corpus(
    database: Database, corpus: str, path: str | Path, *, overwrite: bool = False
) -> Transfer:
    """Write a corpus into one file, which is there whole or not at all; the corpus stays.

    Raises CorpusError where there is none, InputError where the file is and `overwrite` is false.
    """
    require_corpus(database, corpus)
    return export(database, CORPUS, corpus, Path(path), overwrite=overwrite)


#: Imports a corpus from a file of `export_corpus`.
import_corpus = partial(import_file, kind=CORPUS)
