"""Loading knowledge graphs from files, tables and the database; types, faults, deletion."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from commands import environment, kgp
from connected import Watched
from graphs import rows, write_file
from small_kg import ENGLISH, load_chinese, load_english

from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import delete_corpus
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load import graphs as loading
from kgp_neo4j.mindmap.load.graph_files import read_mapping
from kgp_neo4j.mindmap.load.graphs import adopt_graph, delete_graph, graphs, load_graph, parse_type
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.types.errors import (
    ConfigurationError,
    DatabaseError,
    EncoderError,
    GraphError,
    InputError,
)


def _triples(database: Database, graph: str) -> set[tuple[str, str, str]]:
    found = rows(
        database,
        "MATCH (a:Entity {graph: $g})-[r {graph: $g}]->(b:Entity {graph: $g}) "
        "RETURN a.name AS head, type(r) AS relation, b.name AS tail",
        g=graph,
    )
    return {(row["head"], row["relation"], row["tail"]) for row in found}


def _entities(database: Database, graph: str) -> dict[str, dict[str, Any]]:
    found = rows(
        database,
        "MATCH (e:Entity {graph: $g}) RETURN e.name AS name, e.type AS type, e.key AS key, "
        "e.aliases AS aliases, [l IN labels(e) WHERE l <> 'Entity'] AS labels, "
        "e.embedding AS embedding",
        g=graph,
    )
    return {row.pop("name"): row for row in found}


def _snapshot(database: Database, graph: str) -> list[Any]:
    nodes = "MATCH (n) WHERE n.graph = $g OR (n:KnowledgeGraph AND n.name = $g) "
    return [
        rows(database, f"{nodes} RETURN elementId(n) AS e, n, labels(n) AS l ORDER BY e", g=graph),
        rows(
            database,
            f"{nodes} MATCH (n)-[r]->(m) "
            "RETURN elementId(r) AS e, properties(r) AS p, elementId(m) AS m ORDER BY e",
            g=graph,
        ),
    ]


def _refused(database: Database, graph: str, path: Path, reason: str, **options: Any) -> None:
    with pytest.raises(InputError, match=reason):
        load_graph(database, [path], graph, embed=False, **options)


def test_a_small_graph(database: Database, graph: str, encoder: Encoder, tmp_path: Path) -> None:
    account = load_english(database, graph, tmp_path, embed=True)
    assert (account.entities, account.relationships, account.embedded) == (13, 20, 13)
    assert account.types == {"Symptom": 5, "Disease": 3, "Test": 3, "Medication": 2}
    assert account.relations == Counter(relation for _, relation, _ in ENGLISH)
    assert _triples(database, graph) == {
        (head.replace("_", " "), relation, tail.replace("_", " "))
        for head, relation, tail in ENGLISH
    }
    found = _entities(database, graph)
    vector = found["Dry cough"].pop("embedding")
    assert vector == pytest.approx(encoder.encode(["Dry cough"])[0].tolist(), abs=1e-4)
    known = {"key": "dry cough", "aliases": ["Hacking cough"], "labels": ["Symptom"]}
    assert found["Dry cough"] == {"type": "Symptom", **known}
    assert next(g for g in graphs(database) if g.name == graph).encoder == encoder.name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", 'A "x"\tto\tB\r\n\r\nB\tto\tC, D'),
        ("a.csv", 'subject;object;predicate;note\n"A ""x""";B;to;1\nB;C, D;to;\n'),
        ("a.csv", 'source,subject,predicate,object\nx,"A ""x""",to,B\nx,B,to,"C, D"\n'),
        ("a.csv", 'n:START_ID(G),:END_ID(G){},:TYPE,start\n"A ""x""",B,to,1\nB,"C, D",to,2\n'),
        ("a.csv.gz", 'relation,x_name,y_name,x_id\nto,"A ""x""",B,1\nto,B,"C, D",2\n'),
        ("a.jsonl", '{"head": "A \\"x\\"", "relation": "to", "tail": "B"}\n["B", "to", "C, D"]\n'),
        (
            "a.json",
            '[["A \\"x\\"", "to", "B"], {"s": 0, "src": "B", "r": "to", "t": "C, D"}, [NaN, 0, 0]]',
        ),
    ],
)
def test_file_kinds(database: Database, graph: str, tmp_path: Path, name: str, text: str) -> None:
    write_file(tmp_path / name, text)
    for other in ("README", "run.log"):  # no tables: only a folder's files of known kinds are
        write_file(tmp_path / other, "How to load it.")
    account = load_graph(database, [tmp_path], graph, embed=False)
    assert (account.files, account.triples, account.new, account.errors) == (1, 2, 2, ())
    assert _triples(database, graph) == {('A "x"', "to", "B"), ("B", "to", "C, D")}


_TURTLE = """\
@prefix e: <http://e.org/> . @prefix s: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
e:Pump a owl:Class ; s:subClassOf e:Machine .
e:P2 a e:Pump ; s:label "Pumpe"@de , "Pump P2"@en ; e:capacity 300.5 ;
  e:note "Laut"@de , "Loud"@en ;
  e:feeds ( e:Tank_A e:T2 ) ; e:volume [ e:value 12 ] ; e:text "%s" .
e:T2 s:label "Pump P2" ; e:at [ a e:PostBox ; e:city "Oslo" ; e:zip 150 ] .
""" % ("x" * 301)
_XML = """\
<!DOCTYPE r:RDF [<!ENTITY e "http://e.org/"><!ENTITY x SYSTEM "file://{place}/secret">]>
<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">
<e:Person r:about="&e;a"><e:name>Ann</e:name><e:likes r:resource="&e;b"/><e:says>hi &x;</e:says>
</e:Person></r:RDF>
"""
_JSON_LD = """\
{"@context": "http://127.0.0.1:9/none", "@id": "http://e.org/a", "type": "Person", "name": "Ann",
 "likes": {"id": "http://e.org/b"}, "says": "hi"}
"""
_ANN = {("Ann", "likes", "b"), ("Ann", "says", "hi")}


@pytest.mark.parametrize(
    ("name", "text", "triples"),
    [
        (
            "a.ttl",
            _TURTLE,
            {
                ("Pump P2", "capacity", "300.5"),
                ("Pump P2", "note", "Loud"),
                ("Pump P2", "feeds", "Tank A"),
                ("Pump P2", "feeds", "Pump P2 (T2)"),
                ("Pump P2", "volume", "12"),
                ("Pump P2 (T2)", "at", "Post Box of Pump P2 (T2)"),
                ("Post Box of Pump P2 (T2)", "city", "Oslo"),
                ("Post Box of Pump P2 (T2)", "zip", "150"),
            },
        ),
        ("a.rdf", _XML, _ANN),
        ("a.jsonld", _JSON_LD, _ANN),
        (
            "a.nq.gz",
            '<http://e.org/a> <http://e.org/name> "Ann" .\n'
            '_:n <http://e.org/name> "b" <http://e.org/g> .\n'
            "<http://e.org/a> <http://e.org/likes> _:n .\n"
            '<http://e.org/a> <http://e.org/says> "hi" .\n',
            _ANN,
        ),
    ],
)
def test_rdf(
    database: Database, graph: str, tmp_path: Path, name: str, text: str, triples: set[Any]
) -> None:
    write_file(tmp_path / "secret", "word")
    path = write_file(tmp_path / name, text.replace("{place}", tmp_path.as_posix()))
    account = load_graph(database, [path], graph, embed=False)
    assert _triples(database, graph) == triples
    assert account.skipped == text.count("x" * 301)
    found = _entities(database, graph)
    if name == "a.ttl":
        assert (found["Pump P2"]["type"], found["Pump P2"]["aliases"]) == ("Pump", ["Pumpe", "P2"])
        assert found["Post Box of Pump P2 (T2)"]["labels"] == ["PostBox"]
    elif name != "a.nq.gz":
        assert found["Ann"]["type"] == "Person"


_WRONG_RDF_XML = """\
<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">
<r:Description><e:p r:parseType="Collection" r:resource="y"/></r:Description></r:RDF>"""


def test_rdf_that_is_broken(database: Database, graph: str, tmp_path: Path) -> None:
    good = "<http://e.org/a> <http://e.org/to> <http://e.org/b> .\n"
    for name, text, reason in (
        ("a.nt", f"{good}<a> nonsense .\n", r"a\.nt:2: no triple"),
        ("a.ttl", f"{good}<http://e.org/a> <http://e.org/b>\n.\n", r"a\.ttl:\d: not turtle"),
        ("a.rdf", "<r>\n<", r"a\.rdf:2: not RDF/XML"),
        ("b.rdf", _WRONG_RDF_XML, r"b\.rdf:2: not RDF/XML \(Invalid property"),
        ("a.jsonld", '{\n"a" 1}', r"a\.jsonld:2: not JSON"),
        ("b.jsonld", '{"@context": 5}', r"b\.jsonld: not JSON-LD \(a part"),
    ):
        path = write_file(tmp_path / name, text)
        _refused(database, graph, path, reason)
        if good in text:
            account = load_graph(database, [path], graph, embed=False, keep_going=True)
            assert (len(account.errors), _triples(database, graph)) == (1, {("a", "to", "b")})
    path = write_file(tmp_path / "c.ttl", f"{good}# Müller".encode("latin-1"))
    _refused(database, graph, path, r"c\.ttl:2: not turtle \(no UTF-8 text")
    _refused(database, graph, write_file(tmp_path / "a.xyz", "x"), r"Read are .*\.ttl")


def test_encodings(database: Database, graph: str, tmp_path: Path) -> None:
    text = "肝炎\t症状\t发热\n"
    path = write_file(tmp_path / "a.tsv", text.encode("utf-16"))
    load_graph(database, [path], graph, embed=False)
    path = write_file(tmp_path / "b.tsv", text.encode("gb18030"))
    _refused(database, graph, path, r"b\.tsv:1: not utf-8 text")
    assert _triples(database, graph) == {("肝炎", "症状", "发热")}


def test_names_duplicates_missing_values(database: Database, graph: str, tmp_path: Path) -> None:
    lines = [
        "Panic_disorder\thas_symptom\tInsomnia",
        "panic  disorder\thas_symptom\tＩnsomnia",
        "Panic_disorder\thas_symptom\tnan",
        "\thas_symptom\tInsomnia",
        "Insomnia\t \tPanic_disorder",
        "Insomnia\tpossible_disease\tPanic disorder",
        "N/A\tNull\tNaN",
    ]
    path = write_file(tmp_path / "a.tsv", "\n".join(lines))
    account = load_graph(database, [path], graph, embed=False, missing=["nan", "N/A"])
    assert (account.triples, account.duplicates, account.skipped) == (3, 1, 4)
    assert (account.new, account.entities, account.relationships) == (2, 2, 2)
    assert account.skipped_rows == (
        f"{path}:3: no tail (nan)",
        f"{path}:4: no head",
        f"{path}:5: no relation",
        f"{path}:7: no head (N/A)",
    )
    # Whatever a name says, it is one, unless it was said that it is none.
    account = load_graph(database, [path], graph, embed=False)
    assert (account.triples, account.new, account.skipped) == (5, 2, 2)
    assert load_graph(database, [path], graph, embed=False, missing="no nan").skipped == 2
    named = {("N/A", "Null", "nan"), ("Panic disorder", "has_symptom", "nan")}
    assert named <= _triples(database, graph)
    found = _entities(database, graph)
    assert found["Panic disorder"]["aliases"] == ["panic disorder"]
    assert found["Insomnia"]["aliases"] == ["Ｉnsomnia"]


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("a.tsv", "A\tto", "2 fields where head, relation and tail are expected"),
        ("a.tsv", f"A\tto\t{'x' * 1001}", "a name of 1,001 characters, more than 1,000"),
        ("a.tsv", f"A\t{'x' * 201}\tB", "a relation of 201 characters"),
        ("a.tsv", "A\t__\tB", None),
        ("a.csv", 'A,to,"B', "not separated values"),
        ("a.jsonl", '{"head": "A", "relation": "to", "tail": ["B"]}', "'tail' is no text"),
        ("a.jsonl", '["A", "to", "\\ud800"]', "a lone surrogate"),
    ],
)
def test_bad_lines(
    database: Database, graph: str, tmp_path: Path, name: str, line: str, reason: str | None
) -> None:
    good = {".tsv": "X\tto\tY", ".csv": "X,to,Y", ".jsonl": '["X", "to", "Y"]'}[Path(name).suffix]
    path = write_file(tmp_path / name, f"{good}\n{line}\n")
    if reason is None:
        assert load_graph(database, [path], graph, embed=False).new == 2
        return
    _refused(database, graph, path, rf"{name}:2: .*{reason}.*Nothing was written")
    # The graph is as it was: not there.
    assert graph not in {each.name for each in graphs(database)}
    account = load_graph(database, [path, tmp_path / "no"], graph, keep_going=True, embed=False)
    assert (account.new, len(account.errors)) == (1, 2)
    assert any(f"{name}:2: " in error for error in account.errors)


def test_nothing_to_load(database: Database, graph: str, tmp_path: Path) -> None:
    empty = write_file(tmp_path / "a.tsv", "\n")
    _refused(database, graph, empty, "there is no triple to load")
    half = write_file(tmp_path / "h.csv", "head,predicate,thing\nA,to,B\n")
    _refused(database, graph, half, r"h\.csv:1: .*'head' .* 'predicate' \(relation\)")
    _refused(database, graph, write_file(tmp_path / "a.html", "<p>x"), "holds no triples")
    _refused(database, graph, tmp_path / "none.tsv", "no such file")
    for name in (" ", "x" * 201, "a\nb"):
        with pytest.raises(ConfigurationError, match="graph name"):
            load_graph(database, [empty], name, embed=False)


def test_swapped_columns_make_no_relations(database: Database, graph: str, tmp_path: Path) -> None:
    lines = "".join(f"A\tB {n}\tto\n" for n in range(5_001))
    path = write_file(tmp_path / "a.tsv", lines)
    _refused(database, graph, path, r"a\.tsv:5001: more than 5,000 different relations")


def test_a_type_of_our_own_is_no_label(database: Database, graph: str, tmp_path: Path) -> None:
    lines = "head\trelation\ttail\thead_type\ttail_type\nA\tto\tB\tT) (e\tCorpus\n"
    load_graph(database, [write_file(tmp_path / "a.tsv", lines)], graph, embed=False)
    labels = {name: (e["type"], e["labels"]) for name, e in _entities(database, graph).items()}
    # A corpus is what kgp-neo4j says it is, whatever a file calls one.
    assert labels == {"A": ("T) (e", ["T) (e"]), "B": ("Corpus", [])}


def test_where_types_come_from(database: Database, graph: str, tmp_path: Path) -> None:
    lines = [
        "head\trelation\ttail\ttail_type",
        "Flu\thas_symptom\tFever\t",
        "Flu\thas_symptom\tCough\tSign",
        "Panadol\ttreats\tFlu\t",
        "Fever\tpossible_disease\tFlu\t",
        "Cold\thas_symptom\tDepression\t",
        "Cold\thas_symptom\tDepression of mood\t",
        "Depression\tpossible_disease\tCold\t",
        "Fever\tpossible_disease\tDepression\t",
        "Flu\thas_symptom\tDepression\t",
    ]
    path = write_file(tmp_path / "a.tsv", "\n".join(lines))
    types = dict([parse_type("treats=Drug:Disease")])
    load_graph(database, [path], graph, types=types, embed=False)
    found = {name: (e["type"], set(e["labels"])) for name, e in _entities(database, graph).items()}
    assert found == {
        "Flu": ("Disease", {"Disease"}),
        "Fever": ("Symptom", {"Symptom"}),
        "Cough": ("Sign", {"Sign"}),  # what the file says, not what the relation does
        "Panadol": ("Drug", {"Drug"}),
        "Cold": ("Disease", {"Disease"}),
        "Depression": ("Symptom", {"Symptom", "Disease"}),  # by two to one
        "Depression of mood": ("Symptom", {"Symptom"}),
    }
    for wrong in ("treats", "treats=Drug", "=A:B"):
        with pytest.raises(ConfigurationError, match="says no types"):
            parse_type(wrong)
    with pytest.raises(ConfigurationError, match="a control character"):
        load_graph(database, [path], graph, types={"treats": ("\x00", "")}, embed=False)


_TABLE = """idx,disease,Symptom,reason,TestsAndProcedures,commonMedications
0,Panic disorder,"['Anxiety', 'Chest \\'tightness\\'', ""Crohn's"", nan]",x,['EKG'],"['Xanax', '']"
1,Turner syndrome,[],"a, b",,nan
2,nan,['Anxiety'],,,
"""


def test_a_table_with_lists(database: Database, graph: str, tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.csv", _TABLE)
    account = load_graph(database, [path], graph, mapping="chatdoctor", embed=False)
    head = "Panic disorder"
    symptoms = {"Anxiety", "Chest 'tightness'", "Crohn's"}
    assert _triples(database, graph) == {
        *((head, "has_symptom", s) for s in symptoms),
        *((s, "possible_disease", head) for s in symptoms),
        (head, "need_medical_test", "EKG"),
        ("EKG", "can_check_disease", head),
        (head, "need_medication", "Xanax"),
        ("Xanax", "possible_cure_disease", head),
    }
    assert account.types == {"Symptom": 3, "Disease": 2, "Medication": 1, "Test": 1}
    # nan and '' within lists, in both directions, and the row without a name.
    assert account.skipped == 5
    for cell in (
        *("__import__('os')", "['a' 'b']", "['a', ['b']]", "[f'{1}']", "[b'x']", "['a"),
        *("[" * 100_000, "['" + "\\" * 100_001 + "]", "[" + " " * 100_000 + "(]"),
    ):
        bad = write_file(tmp_path / "b.csv", f'{_TABLE}3,Flu,"{cell}",,,\n')
        _refused(database, graph, bad, r"b\.csv:5: .*'Symptom'", mapping="chatdoctor")


def test_a_chinese_table(database: Database, graph: str, tmp_path: Path) -> None:
    text = (
        "name,alias,part,age,department,checklist,symptom,complication,treatment,drug,,\n"
        '乙肝,"乙型肝炎，慢性乙肝",肝,,传染科 肝病,乙肝两对半 [详细],肝肿大 发热 [详细],肝硬化,'
        "药物治疗、饮食疗法 [详细],恩替卡韦片 注射用盐酸... [详细],,\n"
        "乙型病毒...,,,,,,,,,应该如何用药？用什么药？ [详细],,\n"
    )
    path = write_file(tmp_path / "disease.csv", text.encode("gb18030"))
    account = load_graph(database, [path], graph, mapping="qa-system-diseases", embed=False)
    assert account.types == {
        "治疗": 2, "疾病": 2, "症状": 2, "科室": 2, "检查": 1, "药物": 1, "部位": 1,
    }  # fmt: skip
    found = _entities(database, graph)
    assert found["乙肝"]["aliases"] == ["乙型肝炎", "慢性乙肝"]
    assert ("乙肝", "推荐药物", "恩替卡韦片") in _triples(database, graph)
    assert ("肝硬化", "并发于", "乙肝") in _triples(database, graph)
    # The name that was cut off, both ways, and the row whose own name was.
    assert account.skipped == 3
    assert not [name for name in found if "详细" in name or "..." in name or "？" in name]


#: A record of the form of QASystemOnMedicalKG's medical.json.
_DISEASE = {
    "_id": {"$oid": "5bb578b6831b973a137e3ee6"},
    "name": "霜咳",
    "desc": "霜咳是一种虚构的疾病，多见于海边。",
    "symptom": ["夜间咳嗽", "声音嘶哑"],
    "acompany": ["潮热病"],
    "cure_department": ["内科", "呼吸内科"],
    "cure_way": ["药物治疗"],
    "check": ["喉镜"],
    "recommand_drug": ["霜草糖浆"],
    "drug_detail": ["北湾霜草糖浆(霜草糖浆)"],
    "do_eat": ["梨"],
    "not_eat": ["辣椒"],
    "recommand_eat": ["梨汤", "白粥"],
}


def test_records_of_diseases(database: Database, graph: str, tmp_path: Path) -> None:
    records = [_DISEASE, {"name": "潮热病", "check": None}]
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    path = write_file(tmp_path / "medical.json", f"[{', '.join(lines)}]")
    account = load_graph(database, [path], graph, mapping="qa-system-medical", embed=False)
    kinds = {"疾病": 2, "症状": 2, "科室": 2, "食物": 2, "食谱": 2, "检查": 1, "治疗": 1}
    assert account.types == kinds | {"药品": 1, "药物": 1}
    triples = _triples(database, graph)
    assert len(triples) == 25
    assert {
        ("霜咳", "忌吃食物", "辣椒"),
        ("辣椒", "食物不利疾病", "霜咳"),
        ("白粥", "食谱有益疾病", "霜咳"),
        ("霜咳", "并发症", "潮热病"),
        ("呼吸内科", "科室疾病", "霜咳"),
        ("北湾霜草糖浆(霜草糖浆)", "药物治疗", "霜咳"),
    } <= triples
    for bad, reason in (
        (_DISEASE | {"symptom": [1]}, "'symptom' holds neither"),
        (_DISEASE | {"symptom": {"a": "b"}}, "'symptom' holds neither"),
        ({"symptom": ["x"]}, "no object with a text 'name'"),
        (["霜咳"], "no object with a text 'name'"),
    ):
        path = write_file(tmp_path / "bad.json", f"{lines[0]}\n{json.dumps(bad)}")
        reason = rf"bad\.json:2: .*{reason}"
        _refused(database, graph, path, reason, mapping="qa-system-medical")


_MAPPING = """
name = "n"
type = "T"
[[columns]]
column = "c"
relation = "r"
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name =", r"this is no TOML \(Invalid value"),
        ("name = " + "[" * 9_000, r"this is no TOML \(it is nested too deeply"),
        (
            "a." * 50_000,
            r"this is no TOML .*a line has over 200 dots",
        ),  # it took minutes, and gigabytes
        ('name = "n"\n', "at least one .*columns.* is needed"),
        (_MAPPING + 'form = "json"\n', r".*'json'.*\$.columns\[.*form"),
        (f'noise = ["{"(" * 5_000}"]\n{_MAPPING}', ".* no regular expression"),
        (_MAPPING + 'typo = "x"\n', ".*unknown field `typo`"),
        (_MAPPING.replace('"T"', '"\\u0007"'), "the type is a control character"),
        ('encoding = "klingon"\n' + _MAPPING, "'klingon' is no encoding"),
        (_MAPPING.replace('relation = "r"', ""), "a column has no relation"),
    ],
)
def test_bad_mappings(tmp_path: Path, text: str, reason: str) -> None:
    path = write_file(tmp_path / "m.toml", text)
    with pytest.raises(ConfigurationError, match=rf"m\.toml(:1)?: {reason}"):
        read_mapping(path)


def test_mappings_that_come_along_and_missing_columns(database: Database, tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match="one of chatdoctor, qa-system-diseases, qa-system-medical"
    ):
        read_mapping("no such")
    path = write_file(tmp_path / "a.csv", "disease,Symptom\nFlu,['Fever']\n")
    with pytest.raises(InputError, match=r"a\.csv:1: there is no column 'TestsAndProcedures'"):
        load_graph(database, [path], "x", mapping="chatdoctor", embed=False)


def test_a_stored_graph_is_copied_and_stays(database: Database, graph: str, tmp_path: Path) -> None:
    drug, illness = f"Drug {graph}", f"Illness {graph}"
    rows(
        database,
        "CREATE (a:$($drug) {name: 'Aspirin'})-[:TREATS]->(b:$($illness) {name: 'Fever'}), "
        "(a)-[:TREATS]->(:$($illness) {name: 'fever'}), (a)-[:TREATS]->(:$($illness)), "
        "(:$($drug) {name: 'Alone'})",
        drug=drug,
        illness=illness,
    )
    own = "MATCH (n) WHERE any(l IN labels(n) WHERE l IN $l) AND n.graph IS NULL "
    look = own + "OPTIONAL MATCH (n)-[r]->(m) RETURN elementId(n) AS e, n, r, m ORDER BY e, m.name"
    before = rows(database, look, l=[drug, illness])
    try:
        given = {"labels": [drug, illness], "name_property": "name", "embed": False}
        account = adopt_graph(database, graph, **given)
        assert (account.triples, account.duplicates, account.skipped) == (2, 1, 2)
        assert account.types == {drug: 2, illness: 1}
        # Which of the two spellings the database gives first is its own affair.
        ((head, type_, tail),) = _triples(database, graph)
        assert (head, type_, tail.lower()) == ("Aspirin", "TREATS", "fever")
        # The copies have those labels too, and are not copied in turn.
        snapshot = _snapshot(database, graph)
        assert adopt_graph(database, graph, **given).new == 0
        assert _snapshot(database, graph) == snapshot
        delete_graph(database, graph)
        assert rows(database, look, l=[drug, illness]) == before
    finally:
        rows(database, own + "DETACH DELETE n", l=[drug, illness])


def test_loading_again_adds_only_the_new(database: Database, graph: str, tmp_path: Path) -> None:
    load_english(database, graph, tmp_path)
    before = _snapshot(database, graph)
    account = load_graph(database, [tmp_path / "english.tsv"], graph, embed=False)
    assert (account.triples, account.new, account.duplicates) == (20, 0, 0)
    assert _snapshot(database, graph) == before
    text = "Flu\thas_symptom\tFever\nMeasles\thas_symptom\tFEVER\n"
    more = write_file(tmp_path / "more.tsv", text)
    account = load_graph(database, [more], graph, embed=False)
    assert (account.new, account.entities, account.relationships) == (1, 14, 21)
    assert ("Measles", "has_symptom", "Fever") in _triples(database, graph)


def test_a_load_that_was_cut_short_goes_on(
    database: Database, graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_file(tmp_path / "a.tsv", "".join(f"E{n}\tto\tE{n + 1}\n" for n in range(100)))
    monkeypatch.setattr(loading, "BATCH", 10)
    cut = Watched(database, "load_kg/relationships", run=6)
    with cut, pytest.raises(DatabaseError):
        load_graph(cut, [path], graph, embed=False)
    # What was committed stays, whole: batches of ten.
    assert len(_triples(database, graph)) == 50
    account = load_graph(database, [path], graph, embed=False)
    assert (account.new, account.entities, account.relationships) == (50, 101, 100)


def test_a_second_load_takes_over(
    database: Database, graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_file(tmp_path / "a.tsv", "".join(f"E{n}\tto\tE{n + 1}\n" for n in range(40)))
    monkeypatch.setattr(loading, "BATCH", 10)

    def second() -> None:
        load_graph(database, [path], graph, embed=False)

    first = Watched(database, "load_kg/relationships", run=3, happens=second)
    with first, pytest.raises(GraphError, match="another load or deletion of this graph began"):
        load_graph(first, [path], graph, embed=False)
    # No relationship is there twice.
    (graph_,) = (each for each in graphs(database) if each.name == graph)
    assert (graph_.entities, graph_.relationships) == (41, 40)


def test_another_encoder_is_refused(
    database: Database, graph: str, tiny_encoder: str, tmp_path: Path
) -> None:
    load_english(database, graph, tmp_path)
    path = tmp_path / "english.tsv"
    account = load_graph(database, [path], graph, encoder=tiny_encoder)
    # It knows letters and digits only.
    assert account.embedded == 12
    found = _entities(database, graph)
    assert found.pop("Paracetamol (Panadol)")["embedding"] is None
    assert {len(e["embedding"]) for e in found.values()} == {32}
    # Without a name, the graph's own is used.
    assert load_graph(database, [path], graph).embedded == 12
    with pytest.raises(EncoderError, match="the graph is embedded with"):
        load_graph(database, [path], graph, encoder="all-MiniLM-L6-v2")


def test_deletion_takes_the_graph_and_nothing_else(
    database: Database, graph: str, corpus: str, tmp_path: Path
) -> None:
    other = f"{graph} beside"
    load_english(database, graph, tmp_path)
    load_chinese(database, other, tmp_path)
    load(database, [write_file(tmp_path / "a.md", "# Flu\n\nIt has fever.")], corpus)
    rows(database, "CREATE (:NamedEntity {corpus: $c, name: 'flu', title: 'Flu'})", c=corpus)
    try:
        beside = _snapshot(database, other)
        done = delete_graph(database, graph)
        assert (done.entities, done.relationships) == (13, 20)
        assert _snapshot(database, graph) == [[], []]
        assert _snapshot(database, other) == beside
        query = "MATCH (n) WHERE n.corpus = $c RETURN labels(n)[0] AS l ORDER BY l"
        labels = [row["l"] for row in rows(database, query, c=corpus)]
        assert labels == ["Document", "NamedEntity", "Passage"]
        with pytest.raises(GraphError, match=f"Graphs: .*{other}"):
            delete_graph(database, graph)
        # And a corpus leaves the graphs alone.
        delete_corpus(database, corpus)
        assert _snapshot(database, other) == beside
    finally:
        delete_graph(database, other)


def test_what_a_user_adds_stays_uncounted(database: Database, graph: str, tmp_path: Path) -> None:
    load_english(database, graph, tmp_path)
    rows(
        database,
        "MATCH (a:Entity {graph: $g, key: 'flu'}) CREATE "
        "(a)-[:MINE]->(:Entity {name: 'mine', graph: $g})",
        g=graph,
    )
    (listed,) = (each for each in graphs(database) if each.name == graph)
    assert (listed.entities, listed.relationships) == (13, 20)
    more = write_file(tmp_path / "more.tsv", "FLU\thas_symptom\tFever\n")
    account = load_graph(database, [more], graph, embed=False)
    assert (account.new, account.entities) == (0, 13)
    assert _entities(database, graph)["Flu"]["aliases"] == ["Influenza"]
    delete_graph(database, graph)
    assert list(_entities(database, graph)) == ["mine"]
    rows(database, "MATCH (e:Entity {graph: $g}) DETACH DELETE e", g=graph)


def test_the_commands(database: Database, graph: str, tmp_path: Path) -> None:
    load_english(database, graph, tmp_path)  # writes the file
    path = str(tmp_path / "english.tsv")

    def run(*arguments: str) -> Any:
        return kgp(*arguments, **environment(database.connection))

    done = run("load-kg", path, "--graph", graph, "--no-embed")
    assert "triples        20 (0 new, 0 duplicates, 0 without a value skipped)" in done.stdout
    assert "entities       13 (0 embedded)\n  Symptom: 5\n" in done.stdout
    bad = str(write_file(tmp_path / "bad.tsv", "A\tB\nA\tto\tB\n"))
    done = run("load-kg", bad, "--graph", graph, "--no-embed", "--keep-going", "--json")
    assert done.returncode == 1
    account = json.loads(done.stdout)
    assert (account["new"], account["relations"]["to"]) == (1, 1)
    assert "bad.tsv:1: 2 fields" in account["errors"][0]
    many = str(write_file(tmp_path / "many.tsv", "A\tto\tNA\n" * 25 + "A\tto\tB\n"))
    done = run("load-kg", many, "--graph", graph, "--no-embed", "--missing", "NA")
    assert "many.tsv:20: no tail (NA)\n  … and 5 more, which --json lists" in done.stdout
    assert run("load-kg", bad, "--graph", graph, "--no-embed").returncode == 1
    types = ("--types", "to=Letter:Letter", "--no-embed")
    done = run("load-kg", "--from-label", "Symptom", "--graph", f"{graph} 2", *types)
    assert done.returncode == 0, done.stderr
    for wrong in (["--graph", graph], [path], [path, "--from-label", "A", "--graph", graph]):
        assert run("load-kg", *wrong).returncode == 2
    lines = run("corpora", "--graphs", "--json").stdout.splitlines()
    listed = {g["name"]: g for g in map(json.loads, lines)}
    assert (listed[graph]["entities"], listed[graph]["relationships"]) == (15, 21)
    assert f"{graph} 2" in run("corpora", "--graphs").stdout
    for wrong in (["--graph", graph], ["--yes"], ["--graph", graph, "--corpus", "x", "--yes"]):
        assert run("delete", *wrong).returncode == 2
    done = run("delete", "--graph", graph, "--yes")
    assert done.stdout == f"Deleted 15 entities and 21 relationships of {graph}.\n"
    delete_graph(database, f"{graph} 2")
