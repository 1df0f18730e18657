"""What all tests share: one real Neo4j server for the whole run, for all of its workers."""

import logging
import os
import threading
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO

import pytest
from chat_server import ChatServer
from chromium import find_chromium
from small_kg import kept, load_chinese, load_english

from kgp_neo4j import Corpus, Database, install
from kgp_neo4j.corpus.load.stored import delete_corpus
from kgp_neo4j.demo import prepare, prepare_graph
from kgp_neo4j.environment.disk import locked
from kgp_neo4j.environment.folders import Connection, Folders, connection_from_environment
from kgp_neo4j.graphdb.server import startup as server
from kgp_neo4j.graphdb.server.startup import state_file
from kgp_neo4j.mindmap.load.graphs import delete_graph
from kgp_neo4j.models.encoder import Encoder, load_encoder

#: The worker of pytest-xdist that this is; None in a run without workers and in what leads them.
_WORKER = os.environ.get("PYTEST_XDIST_WORKER")
_CONTAINERS = "KGP_NEO4J_TEST_CONTAINERS"


def _leads_workers(config: pytest.Config) -> bool:
    return _WORKER is None and bool(config.option.tx)


def pytest_configure(config: pytest.Config) -> None:
    """Divide the cores among the workers: each would start as many threads as there are cores."""
    if not _leads_workers(config):
        return
    if os.environ.get(_CONTAINERS) == "1":
        raise pytest.UsageError(f"{_CONTAINERS}=1 starts a container for one process: add -n 0")
    cores = max(1, (os.cpu_count() or 1) // len(config.option.tx))
    os.environ.setdefault("OMP_NUM_THREADS", str(cores))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give workers slow tests early, those that run alone first; without a Chromium none of its."""
    if find_chromium() is None and os.environ.get("CI") != "true":
        items[:] = [item for item in items if not item.get_closest_marker("browser")]
    if _WORKER is not None:
        alone, slow = (
            {item.path for item in items if item.get_closest_marker(mark)}
            for mark in ("alone", "slow")
        )
        items.sort(key=lambda item: (item.path not in alone, item.path not in slow))


#: The lock that this worker's test runs under, while it is held; a row of `alone` tests keeps it.
_RUNNING: list[IO[str]] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Run tests marked `alone` while the other workers wait, a row of them at once."""
    if _WORKER is None:
        return (yield)
    import fcntl

    run: Path = item.config._tmp_path_factory.getbasetemp().parent  # type: ignore[attr-defined]
    alone, next_alone = (each and each.get_closest_marker("alone") for each in (item, nextitem))
    if not _RUNNING:
        # Who waits for the others holds the door, so that none of them begins another test.
        with (run / "door").open("w") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            _RUNNING.append((run / "running").open("w"))
            fcntl.flock(_RUNNING[0], fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
    try:
        return (yield)
    finally:
        if not (alone and next_alone):
            _RUNNING.pop().close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out on this machine, and how to have it."""
    if find_chromium() is None and os.environ.get("CI") != "true":
        terminalreporter.write_line(
            "The tests that drive a Chromium were left out: apt-get install chromium (or Chrome)."
        )


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what servers the workers have left: the one they share, and those of killed workers."""
    if _leads_workers(config):
        run: Path = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        for state in list(run.rglob(state_file(run).name)):
            server.stop(Folders.from_environment(state.parents[1]))


@pytest.fixture(scope="session", autouse=True)
def _nothing_configured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No settings and no home of the user's, and no replies from an earlier run."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("KGP_NEO4J_LLM")]:
            patch.delenv(name)
        for name in ("COLUMNS", "LINES"):  # a worker has them, of no terminal
            patch.delenv(name, raising=False)
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("KGP_NEO4J_HOME", str(tmp_path_factory.mktemp("user") / "home"))
        patch.setenv("KGP_NEO4J_CONFIG", os.devnull)
        patch.setenv("KGP_NEO4J_LLM_CACHE", "off")
        yield


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that all workers of this test run have together."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if _WORKER else own


@pytest.fixture(scope="session")
def folders(shared: Path) -> Folders:
    """The user's cache (or KGP_NEO4J_CACHE) with a home of this test run's own."""
    return Folders.from_environment(shared / "kgp-neo4j" / "home")


@pytest.fixture(scope="session")
def connection(folders: Folders) -> Iterator[Connection]:
    """A real server: that of NEO4J_URI, else a container when asked for, else the embedded one."""
    given = connection_from_environment()
    if given is not None:
        yield given
    elif os.environ.get(_CONTAINERS) == "1":
        yield from _container()
    else:
        try:
            yield server.ensure(folders, echo=print)
        finally:
            if _WORKER is None:  # others may be using it: what leads the workers stops it
                server.stop(folders)


def _container() -> Iterator[Connection]:
    """Start docker/compose.yaml; fails without a Docker engine."""
    from testcontainers.compose import DockerCompose

    password = os.environ.setdefault("NEO4J_PASSWORD", "only-for-tests")
    with DockerCompose(Path(__file__).parents[1] / "docker", wait=True) as compose:
        host, port = compose.get_service_host_and_port("neo4j", 7687)
        yield Connection(f"bolt://{host}:{port}", "neo4j", password)


class _Notes(logging.Handler):
    """Keeps what the server notes of the statements that it runs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


_NOTES = _Notes()
logging.getLogger("neo4j.notifications").addHandler(_NOTES)
logging.getLogger("neo4j.notifications").setLevel(logging.WARNING)


@pytest.fixture(autouse=True)
def nothing_is_noted() -> Iterator[None]:
    """A statement that is deprecated, or that the server warns of, fails its test."""
    _NOTES.texts.clear()
    yield
    assert not _NOTES.texts


@pytest.fixture(scope="session")
def database(connection: Connection, shared: Path) -> Iterator[Database]:
    """The server with schema and procedures installed."""
    with Database(connection) as made:
        with locked(shared / "installing", "Another worker is installing", print):
            install(made)
        yield made


def _fresh_corpus(database: Database) -> Iterator[str]:
    name = f"test {uuid.uuid4().hex[:12]}"
    yield name
    if {"name": name} in database.read("inspect/names"):
        delete_corpus(database, name)


@pytest.fixture
def corpus(database: Database) -> Iterator[str]:
    """The name of a corpus of the test's own; what is in it is deleted afterwards."""
    yield from _fresh_corpus(database)


@pytest.fixture
def other_corpus(database: Database) -> Iterator[str]:
    """A second one, for what must stay apart."""
    yield from _fresh_corpus(database)


@pytest.fixture(scope="module")
def shared_corpus(database: Database) -> Iterator[str]:
    """The name of a corpus that the tests of a file share."""
    yield from _fresh_corpus(database)


@pytest.fixture(scope="session")
def demo_corpus(database: Database) -> Iterator[str]:
    """The demo's documents, loaded and connected both ways; to be read only."""
    for name in _fresh_corpus(database):
        prepare(database, name)
        yield name


@pytest.fixture
def graph(database: Database) -> Iterator[str]:
    """The name of a knowledge graph of the test's own; what is in it is deleted afterwards."""
    name = f"test {uuid.uuid4().hex[:12]}"
    yield name
    if database.read("explore/graph", graph=name):
        delete_graph(database, name)


@pytest.fixture(scope="session")
def demo(database: Database, demo_corpus: str) -> Corpus:
    """The demo's corpus as programs have it."""
    return Corpus(demo_corpus, database=database)


@pytest.fixture(scope="session")
def demo_graph(database: Database, demo_corpus: str) -> Iterator[str]:
    """The demo's knowledge graph, under the name of the demo's corpus; to be read only."""
    prepare_graph(database, demo_corpus)
    yield demo_corpus
    delete_graph(database, demo_corpus)


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The default encoder, with its real weights."""
    return load_encoder()


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a real encoder of another dimension: a BERT of 32 with random weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("encoder")
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{x}" for x in letters)]
    (folder / "vocab.txt").write_text("\n".join(tokens), encoding="utf-8")
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(tokens),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
    )
    BertModel(config).save_pretrained(folder / "bert", safe_serialization=True)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    words = Transformer(str(folder / "bert"))
    model = SentenceTransformer(
        modules=[words, Pooling(words.get_embedding_dimension())], device="cpu"
    )
    model.save(str(folder / "model"), safe_serialization=True)
    return str(folder / "model")


@pytest.fixture
def chat_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A server of the OpenAI protocol, and no other one in the environment."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_API_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
    made = ChatServer()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture(scope="module")
def english(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The small English graph, embedded."""
    yield from kept(database, tmp_path_factory, load_english, embed=True)


@pytest.fixture(scope="module")
def chinese(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The small Chinese graph, not embedded."""
    yield from kept(database, tmp_path_factory, load_chinese)
