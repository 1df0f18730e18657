"""The light engine: encoders without torch, alike on every CPU, and what is said without one."""

import json
import os
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from commands import environment, output

from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.environment.job import thread_count
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.graphs import delete_graph
from kgp_neo4j.models import engine
from kgp_neo4j.models.encoder import (
    Encoder,
    StaticNetwork,
    choose_network,
    encode_kept,
    load_encoder,
)
from kgp_neo4j.types.errors import ConfigurationError

_TEXTS = (
    "Who designed the bridge that replaced the ferry?",
    "The Hesk Bridge. The Hesk Bridge was designed by Yusuf Arden, and opened in 1911.",
    "",
    "这座桥是由一位工程师设计的。",
    "A lighthouse stands at the end of the long pier of the harbour. " * 60,
)


def test_a_text_has_the_same_vector_in_every_company(encoder: Encoder) -> None:
    alone = np.concatenate([encoder.encode([text]) for text in _TEXTS])
    assert (alone * encoder.encode(_TEXTS)).sum(axis=1).min() > 0.999
    assert encoder.encode([]).shape == (0, 384)
    assert np.allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-5)


def test_quick_vectors_lie_where_those_of_the_full_encoder_do(encoder: Encoder) -> None:
    passages = [("Hesk Bridge", text) for text in (*_TEXTS[:2], *_TEXTS[4:])]
    quick = load_encoder(engine.QUICK_ENCODER)
    found, full = quick.encode_passages(passages), encoder.encode_passages(passages)
    assert (found * full).sum(axis=1).min() > 0.7
    alone = np.concatenate([quick.encode_passages([passage]) for passage in passages])
    assert np.allclose(found, alone, atol=1e-5)
    assert quick.encode_passages([]).shape == (0, 384)
    assert np.isfinite(quick.encode_passages([("", "")])).all()
    # The words of a text are whole whatever stands in another one.
    network = StaticNetwork(encoder.tokenizer)
    beside = network(["[SEP] a[SEP]b", _TEXTS[1]])[1:]
    assert np.allclose(beside, StaticNetwork(encoder.tokenizer)(_TEXTS[1:2]), atol=1e-5)
    # Questions are encoded by the full network.
    assert np.allclose(quick.encode(_TEXTS[:1]), encoder.encode(_TEXTS[:1]), atol=1e-3)


def test_passages_are_encoded_once_whatever_befalls_the_file(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGP_NEO4J_CACHE", str(tmp_path))
    passages = [("Hesk", _TEXTS[1]), ("Pier", _TEXTS[4]), ("Hesk", _TEXTS[1]), ("Hes", "k")]
    wanted = encoder.encode_passages(passages)
    file = tmp_path / "vectors" / "vectors.db"

    def encode() -> list[int]:
        done: list[int] = []
        vectors = encode_kept(encoder, passages, done.append)
        assert (vectors * wanted).sum(axis=1).min() > 0.999
        return done

    assert encode() == [1, 3]
    assert encode() == [4]
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(b"no database" * 1000)
    assert encode() == [1, 3]
    assert encode() == [4]
    assert encode_kept(encoder, [], print).shape == (0, 384)
    monkeypatch.setenv("KGP_NEO4J_CACHE", str(file))  # no folder
    assert encode() == [1, 3]


def test_products_of_bytes_make_nearly_the_same_vectors(encoder: Encoder) -> None:
    own = engine.PRETRAINED[engine.DEFAULT_ENCODER]
    network = engine.LightTransformer(*engine.eight_bit_files(), own.longest, own.pooling)
    in_bytes = Encoder(engine.DEFAULT_ENCODER, network)
    documents = resources.files("kgp_neo4j.demo") / "documents"
    names = [each for each in documents.iterdir() if each.name.endswith(".md")]
    read = [(each.name, each.read_text("utf-8")) for each in names]
    cosines = (in_bytes.encode_passages(read) * encoder.encode_passages(read)).sum(axis=1)
    assert cosines.min() > 0.97  # and 0.995 where sums of bytes do not overflow
    chosen = choose_network(encoder, read)
    assert chosen is encoder or (chosen.form == in_bytes.form and cosines.mean() > 0.995)
    quick = load_encoder(engine.QUICK_ENCODER)
    assert choose_network(quick, read) is quick


@pytest.mark.parametrize("given", ["0", "-1", "many"])
def test_threads_that_are_none(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGP_NEO4J_THREADS", given)
    with pytest.raises(ConfigurationError, match="KGP_NEO4J_THREADS"):
        thread_count()
    monkeypatch.setenv("KGP_NEO4J_THREADS", "3")
    assert thread_count() == 3


def test_nothing_is_reported_to_the_engines_makers() -> None:
    """`import openvino` opens a connection where its telemetry package can be imported."""
    script = """
import socket, sys
def refuse(*_, **__):
    raise SystemExit("a connection was opened")
socket.socket.connect = refuse
from kgp_neo4j.models.encoder import load_encoder
load_encoder().encode(["a"])
sys.exit(sys.modules["openvino_telemetry"] is not None)
"""
    output(sys.executable, "-c", script)


#: Stands for an install with the extra `mcp` alone: importing what only other extras bring raises.
_WITHOUT = """
import sys
from importlib.metadata import packages_distributions, requires
from packaging.requirements import Requirement

needed, left = {"kgp-neo4j"}, ["kgp-neo4j"]
while left:
    for requirement in map(Requirement, requires(left.pop()) or ()):
        name = requirement.name.lower().replace("_", "-")
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": "mcp"})
        if wanted and name not in needed:
            needed.add(name)
            left.append(name)

class Missing:
    def find_spec(self, name, path=None, target=None):
        owners = {each.lower().replace("_", "-") for each in owned.get(name.split(".")[0], ())}
        if owners and not owners & needed:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

owned = packages_distributions()
sys.meta_path.insert(0, Missing())
"""
#: Runs commands one after the other, each with what is typed.
_COMMANDS = """
import io, json
from kgp_neo4j.cli import run
for typed, *command in json.loads(sys.argv[1]):
    sys.stdin = io.TextIOWrapper(io.BytesIO(typed.encode()))
    print("$", *command, flush=True)
    if run(command):
        sys.exit(f"{command} failed")
"""


@pytest.mark.slow
def test_the_main_commands_need_none_of_the_extras(
    connection: Connection, database: Database, corpus: str, tmp_path: Path
) -> None:
    (tmp_path / "q.jsonl").write_text('{"id": "1", "question": "Who designed the Hesk Bridge?"}')
    (tmp_path / "d.md").write_text("# Halse\n\nHalse is an island with a harbour.\n")
    (tmp_path / "t.tsv").write_text("anaemia\thas_symptom\tdizziness\n")
    asked, to = "Who designed the Hesk Bridge?", ("--corpus", corpus)
    commands = (
        ("", "demo", *to, "--json"),
        ("", "evaluate", "demo", "--sample", "2", *to, "--out", str(tmp_path / "out")),
        ("", "load", str(tmp_path / "d.md"), *to),
        ("", "connect", *to),
        ("", "ask", asked, *to, "--json"),
        ("", "retrieve", str(tmp_path / "q.jsonl"), *to, "--out", str(tmp_path / "run.jsonl")),
        (f"{asked}\n", "chat", *to),
        ("", "load-kg", str(tmp_path / "t.tsv"), "--graph", corpus),
        ("", "mindmap", "I feel dizzy. What is it?", "--graph", corpus),
        ("", "mcp"),
    )
    script = (sys.executable, "-c", _WITHOUT + _COMMANDS, json.dumps(commands))
    shown = output(*script, env=os.environ | environment(connection))
    said = {text.split()[0]: text for text in shown.removeprefix("$ ").split("\n$ ")}
    assert list(said) == [command for _, command, *_ in commands]
    assert "Yusuf Arden" in said["ask"]
    assert "Yusuf Arden" in said["chat"]
    assert all(f"| {method} |" in said["evaluate"] for method in ("bm25", "kgp", "golden"))
    delete_graph(database, corpus)


def test_what_needs_torch_and_finds_none_says_what_to_install(tiny_encoder: str) -> None:
    script = f"""
{_WITHOUT}
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import EncoderError
from kgp_neo4j.models.encoder import load_encoder
try:
    load_encoder({tiny_encoder!r})
except EncoderError as error:
    print(error)
"""
    shown = output(sys.executable, "-c", script)
    assert 'pip install "kgp-neo4j[torch]"' in shown
    assert shown.count("\n") == 1
