"""Two small knowledge graphs, one English and one Chinese, as files and loaded into a database."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from graphs import write_file

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.graphs import delete_graph, load_graph
from kgp_neo4j.types.mindmap import GraphLoadReport

_SYMPTOMS = (
    ("Flu", "has_symptom", "Fever"),
    ("Flu", "has_symptom", "Nausea"),
    ("Flu", "has_symptom", "Dry_cough"),
    ("Food_poisoning", "has_symptom", "Nausea"),
    ("Food_poisoning", "has_symptom", "Stomach_cramps"),
    ("Migraine", "has_symptom", "Nausea"),
    ("Migraine", "has_symptom", "Sensitivity_to_light"),
)
#: Thirteen entities: nausea is the hub, flu and food poisoning share it.
ENGLISH = (
    *_SYMPTOMS,
    *((symptom, "possible_disease", disease) for disease, _, symptom in _SYMPTOMS),
    ("Flu", "need_medication", "Paracetamol_(Panadol)"),
    ("Migraine", "need_medication", "Sumatriptan"),
    ("Migraine", "need_medication", "Paracetamol_(Panadol)"),
    ("Flu", "need_medical_test", "Throat_swab"),
    ("Food_poisoning", "need_medical_test", "Stool_culture"),
    ("Migraine", "need_medical_test", "Neurological_exam"),
)
#: Other names of three of them.
_ALIASES = {"Flu": ("Influenza",), "Dry_cough": ("Hacking cough",), "Migraine": ("Hemicrania",)}
CHINESE = (
    ("流行性感冒", "症状", "发热"),
    ("流行性感冒", "症状", "干咳"),
    ("流行性感冒", "推荐药物", "奥司他韦胶囊"),
    ("流行性感冒", "所属科室", "呼吸内科"),
    ("偏头痛", "症状", "恶心"),
    ("偏头痛", "症状", "怕光"),
    ("偏头痛", "推荐药物", "舒马普坦片"),
    ("食物中毒", "症状", "恶心"),
)
_CHINESE_TYPES = {
    "症状": ("疾病", "症状"),
    "推荐药物": ("疾病", "药物"),
    "所属科室": ("疾病", "科室"),
}


def write_triples(path: Path, triples: Iterable[Sequence[str]], separator: str = "\t") -> Path:
    return write_file(path, "".join(separator.join(triple) + "\n" for triple in triples))


def load_triples(
    database: Database, graph: str, folder: Path, triples: Iterable[Sequence[str]], **options: Any
) -> GraphLoadReport:
    """Load triples through a file in `folder`, with the options of `load_graph`."""
    return load_graph(database, [write_triples(folder / "triples.tsv", triples)], graph, **options)


def load_english(
    database: Database, graph: str, folder: Path, *, embed: bool = False
) -> GraphLoadReport:
    """Load the English graph through a table with aliases and a file of triples in `folder`."""
    load_graph(database, [write_triples(folder / "english.tsv", ENGLISH)], graph, embed=False)
    rows = (f"{name},{'|'.join(others)}\n" for name, others in _ALIASES.items())
    table = write_file(folder / "names.csv", "name,others\n" + "".join(rows))
    said = 'name = "name"\n[aliases]\ncolumn = "others"\nseparators = "|"\n'
    mapping = write_file(folder / "names.toml", said)
    return load_graph(database, [table], graph, mapping=mapping, embed=embed)


def load_chinese(
    database: Database, graph: str, folder: Path, *, embed: bool = False
) -> GraphLoadReport:
    """Load the Chinese graph through a file of triples in `folder`."""
    path = write_triples(folder / "chinese.csv", CHINESE, ",")
    return load_graph(database, [path], graph, types=_CHINESE_TYPES, embed=embed)


def kept(
    database: Database, factory: pytest.TempPathFactory, load: Callable[..., Any],
    *given: Any, **options: Any,
) -> Iterator[str]:  # fmt: skip
    """Yield the name of a graph that one of the above has loaded, and delete it afterwards."""
    name = f"test {uuid.uuid4().hex[:12]}"
    load(database, name, factory.mktemp("graph"), *given, **options)
    yield name
    delete_graph(database, name)
