"""Settings: which of the places they come from counts, and what is wrong in them is said."""

import dataclasses
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer
from click.testing import CliRunner, Result

from kgp_neo4j.cli import cli
from kgp_neo4j.cli._options import opened_model
from kgp_neo4j.corpus.read.reader import load_reader
from kgp_neo4j.environment import configuration
from kgp_neo4j.environment.folders import Folders, checked_bolt, read_key, shown_url
from kgp_neo4j.llm.chat import find_model
from kgp_neo4j.mindmap.load.graph_files import read_mapping
from kgp_neo4j.types.errors import ConfigurationError, InputError, KgpError
from kgp_neo4j.types.settings import TraversalSettings

_KEY = "sk-only-for-tests"
_WHOLE = """\
[llm]
model = "openai:gpt-4o-mini"
url = "http://127.0.0.1:8000/v1"
file = "model.gguf"
temperature = 1
seed = 3
timeout = 30.5
retries = 0
context = 32768
max_tokens = 4096
passages = 7
cache = "kept"

[ask]
corpus = "mine"
graph = "medical"
agent = "tfidf"
budget = 10
history = true
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a home above it, and no settings but the test's own."""
    for name in [
        *map(configuration.variable_of, configuration.SETTINGS),
        "KGP_NEO4J_CONFIG",
        "OPENAI_API_KEY",
    ]:
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    folder = home / "work" / "deep"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("KGP_NEO4J_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(folder)
    return folder


def _write(text: str) -> Path:
    """Write the user's own file of settings."""
    path = configuration.settings_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _run(*line: str) -> Result:
    return CliRunner().invoke(cli, line)


def test_what_counts_first(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line, the environment, the file, the default."""

    def held() -> tuple[Any, ...]:
        found = configuration.read_configuration()["llm.model"]
        return found.value, found.source, found.where

    assert held() == (None, "default", "")
    own = _write('# mine\n[llm]\nseed = 1\nmodel = "own"\n')
    assert held() == ("own", "file", f"{own}:4")
    assert configuration.settings_file() == own
    named = tmp_path / "named.toml"
    named.write_text('[llm]\nmodel = "named"\n')
    monkeypatch.setenv("KGP_NEO4J_CONFIG", str(named))
    assert held() == ("named", "file", f"{named}:2")
    assert configuration.read_configuration()["llm.seed"].value == 0
    monkeypatch.setenv("KGP_NEO4J_LLM", "variables")
    assert held() == ("variables", "environment", "KGP_NEO4J_LLM")
    assert configuration.language_settings(model="options").model == "options"
    assert configuration.language_settings().model == "variables"
    monkeypatch.delenv("KGP_NEO4J_LLM")
    for nothing in ("", os.devnull):
        monkeypatch.setenv("KGP_NEO4J_CONFIG", nothing)
        assert held() == (None, "default", "")
    monkeypatch.setenv("KGP_NEO4J_CONFIG", str(tmp_path / "gone.toml"))
    with pytest.raises(ConfigurationError, match="names no file"):
        configuration.read_configuration()


def test_every_setting_can_be_given_in_a_file_and_in_the_environment(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write(_WHOLE)
    found = configuration.read_configuration()
    lines = _WHOLE.splitlines()
    for name, held in found.items():
        if name == "llm.key_file":
            continue
        line = int(held.where.rpartition(":")[2])
        assert held.where == f"{path}:{line}"
        assert lines[line - 1].startswith(f"{name.partition('.')[2]} = ")
    path.unlink()
    for name in configuration.SETTINGS:
        if name != "llm.key_file":
            monkeypatch.setenv(configuration.variable_of(name), str(found[name].value))
    again = configuration.read_configuration()
    assert {n: h.value for n, h in again.items()} == {n: h.value for n, h in found.items()}
    assert {h.source for n, h in again.items() if n != "llm.key_file"} == {"environment"}
    made = configuration.language_settings()
    assert made == configuration.LanguageSettings(
        model="openai:gpt-4o-mini",
        url="http://127.0.0.1:8000/v1",
        file=path.parent / "model.gguf",
        temperature=1.0,
        seed=3,
        timeout=30.5,
        retries=0,
        context=32768,
        max_tokens=4096,
        passages=7,
        cache=path.parent / "kept",
    )


def test_the_defaults_are_those_of_the_program(place: Path) -> None:
    given = dataclasses.asdict(configuration.language_settings())
    plain = dataclasses.asdict(configuration.LanguageSettings())
    # only what is configured keeps replies; a LanguageSettings of one's own does not
    assert given.pop("cache") == Path(os.environ["KGP_NEO4J_CACHE"]) / "replies"
    assert plain.pop("cache") is None
    assert given == plain
    assert configuration.read_configuration()["ask.budget"].value == TraversalSettings().budget


@pytest.mark.parametrize(
    ("said", "kept"), [("off", None), ("OFF", None), ("on", "cache/replies"), ("mine", "mine")]
)
def test_the_cache_is_on_off_or_a_folder(
    place: Path, monkeypatch: pytest.MonkeyPatch, said: str, kept: str | None
) -> None:
    own = _write(f'[llm]\ncache = "{said}"\n')
    for folder in (own.parent, place):
        root = place.parents[2] if kept == "cache/replies" else folder
        assert configuration.language_settings().cache == (root / kept if kept else None)
        monkeypatch.setenv("KGP_NEO4J_LLM_CACHE", said)
    _write("[llm]\ncache = false\n")
    monkeypatch.delenv("KGP_NEO4J_LLM_CACHE")
    assert configuration.language_settings().cache is None


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[llm]\nmodel = "a\n', 2, "no TOML"),
        ('[llm]\nmodle = "a"\n', 2, r"no setting llm.modle.*Did you mean llm.model\?"),
        ('\n[lmm]\nmodel = "a"\n', 3, r"no setting lmm.model.*Did you mean llm.model\?"),
        ("seed = 1\n", 1, r"no setting seed.*Did you mean llm.seed\?"),
        ("[llm]\nbudget = 1\n", 2, r"no setting llm.budget.*Did you mean ask.budget\?"),
        ('[ask]\nhistory = "often"\n', 2, "ask.history has to be true or false"),
        ("[ask]\nhops = 3\n", 2, "no setting ask.hops.*There are ask.corpus, ask.graph"),
        ("[llm]\n\nmodel = 3\n", 3, "llm.model has to be a text"),
        ('[llm]\nmodel = "a\\nb"\n', 2, "llm.model has to be a text"),
        ('[llm]\nseed = "3"\n', 2, "llm.seed has to be a whole number"),
        ("[llm]\nseed = -1\n", 2, "llm.seed has to be a whole number from 0"),
        ("[llm]\ntemperature = nan\n", 2, "llm.temperature has to be a number from 0 to 2"),
        ("llm = {seed = 1, cache = 3}\n", 1, "llm.cache has to be on, off or"),
        ('[llm]\ncache = "~nobody-at-all/x"\n', 2, "llm.cache has to be on, off or"),
        ('[ask]\nagent = "nobody"\n', 2, "ask.agent has to be one of learned, random"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(place: Path, text: str, line: int, said: str) -> None:
    path = _write(text)
    with pytest.raises(ConfigurationError, match=said) as caught:
        configuration.read_configuration()
    assert caught.value.where == f"{path}:{line}"
    assert caught.value.hint


@pytest.mark.parametrize("use", [Folders.from_environment, load_reader, read_mapping])
def test_the_home_of_nobody_is_said(use: Callable[[Any], object]) -> None:
    with pytest.raises(InputError, match=r"^~nobody-at-all/x: its ~ names"):
        use("~nobody-at-all/x")


def test_a_file_that_is_no_text_of_settings(place: Path) -> None:
    for data in (b"\xff\xfe[llm]", b"a = " + b"[" * 9_000, b"#\n" * (1 << 20)):
        path = _write("")
        path.write_bytes(data)
        with pytest.raises(ConfigurationError, match="no TOML") as caught:
            configuration.read_configuration()
        assert str(caught.value.where).startswith(str(path))


def test_a_wrong_variable_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGP_NEO4J_LLM_TIMEOUT", "-3")
    with pytest.raises(ConfigurationError, match="has to be") as caught:
        configuration.read_configuration()
    assert caught.value.where == "KGP_NEO4J_LLM_TIMEOUT"


@pytest.mark.parametrize(
    "name", ["llm.key", "llm.api_key", "llm.OPENAI_API_KEY", "neo4j.password", "key", "llm.token"]
)
def test_a_key_in_a_file_of_settings_is_refused_and_not_shown(place: Path, name: str) -> None:
    path = _write(f'{name} = "{_KEY}"\n')
    done = _run("config")
    assert isinstance(done.exception, ConfigurationError)
    assert "do not belong in a file of settings" in str(done.exception)
    assert done.exception.where == f"{path}:1"
    assert _KEY not in str(done.exception) + done.output


def test_the_key_comes_from_the_environment_or_a_closed_file(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place / "key"
    path.write_text(f"{_KEY}\n")
    path.chmod(0o600)
    assert read_key(None) == ""
    assert read_key(path) == _KEY
    monkeypatch.setenv("OPENAI_API_KEY", " other\n")
    assert read_key(path) == "other"
    monkeypatch.delenv("OPENAI_API_KEY")
    for mode in (0o640, 0o604):
        path.chmod(mode)
        with pytest.raises(ConfigurationError, match=r"others may read the key's file.*chmod 600"):
            read_key(path)
    path.chmod(0o600)
    for data in (b"\xff", b"sk-\nX-Other: 1"):
        path.write_bytes(data)
        with pytest.raises(ConfigurationError, match="characters that no key has") as caught:
            read_key(path)
        assert "sk-" not in str(caught.value)
    for wrong in (place / "gone", place):
        with pytest.raises(ConfigurationError, match="cannot be read"):
            read_key(wrong)


def test_a_key_of_a_file_is_sent(
    place: Path, chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "key").write_text(_KEY)
    (place / "key").chmod(0o600)
    monkeypatch.setenv("OPENAI_API_KEY_FILE", "key")
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    monkeypatch.setenv("KGP_NEO4J_LLM_CACHE", "off")
    for key in (_KEY, "another"):
        (place / "key").write_text(key)
        find_model("m").reply("", "Who?")
    assert chat_server.keys == [f"Bearer {_KEY}", "Bearer another"]
    assert _KEY not in repr(configuration.language_settings())


def test_an_address_that_cannot_be_is_said_where_a_model_needs_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write('[llm]\n\nurl = "http://me:hidden@127.0.0.1/v1"\n')
    assert configuration.language_settings().model is None
    assert configuration.language_settings(model="none").model == "none"
    for url, where in ((None, f"{path}:3"), ("127.0.0.1", None)):
        with pytest.raises(ConfigurationError, match="address") as caught:
            configuration.language_settings(model="m", url=url)
        assert caught.value.where == where
        assert "hidden" not in str(caught.value)
    assert "hidden" not in _run("config").output


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ("bolt://bolt://db:7688", "one host"),
        ("localhost:7687", "does not begin with neo4j://"),
        ("http://localhost:7474/browser/", "Neo4j Browser"),
        ("bolt://localhost:7474", "Neo4j Browser"),
        ("bolt://neo4j:hid/d@en@db:7687", "a user or a password"),
        ("neo4j:hidden@db:7687", "a user or a password"),
        ("bolt://db:70000", "a port from 1 to 65535"),
        ("bolt://db:0", "a port from 1 to 65535"),
        ("bolt://db:", "one host"),
        ("bolt://::1:7687", "one host"),
        ("bolt://a:1,b:2", "one host"),
        ("neo4j://db:7687/movies", "goes into NEO4J_DATABASE"),
        ("bolt://db?policy=eu", "which only neo4j:// takes"),
        ("bolt://", "one host"),
    ],
)
def test_an_address_that_cannot_be_used_is_told_with_one_that_can(given: str, wrong: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^NEO4J_URI ") as raised:
        checked_bolt(given)
    assert wrong in raised.value.what
    assert "neo4j+s://HOST for TLS" in raised.value.hint
    assert "hid" not in f"{raised.value} {shown_url(given)}"


def test_an_address_is_taken_without_what_stands_round_it() -> None:
    for given in ("BOLT://db:7687", " 'bolt://db:7687/' ", '"bolt://db:7687"'):
        assert checked_bolt(given) == "bolt://db:7687"
    for given in ("neo4j://db:7687?policy=eu", "bolt://[::1]:7687", "bolt://[fe80::1%eth0]"):
        assert checked_bolt(given) == given


def test_config_shows_every_setting_with_where_it_comes_from(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write('[llm]\nmodel = "local:small"\n')
    monkeypatch.setenv("KGP_NEO4J_LLM_SEED", "3")
    monkeypatch.setenv("OPENAI_API_KEY", _KEY)
    monkeypatch.setenv("NEO4J_URI", "bolt://me:hidden@127.0.0.1:7687")
    monkeypatch.setenv("NEO4J_PASSWORD", "secret-word")
    done = _run("config", "--json")
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert made["file"] == str(path)
    rows = {row.pop("name"): row for row in made["settings"]}
    assert set(configuration.SETTINGS) < set(rows)
    assert rows["llm.model"] == {"value": "local:small", "source": "file", "where": f"{path}:2"}
    assert rows["llm.seed"] == {"value": 3, "source": "environment", "where": "KGP_NEO4J_LLM_SEED"}
    assert rows["llm.retries"] == {"value": 4, "source": "default", "where": ""}
    assert rows["llm.key"]["value"] == "set in OPENAI_API_KEY"
    assert rows["neo4j.password"]["value"] == "set in NEO4J_PASSWORD"
    assert rows["neo4j.uri"]["value"] == "bolt://***@127.0.0.1:7687"
    assert rows["folders.cache"]["where"] == "KGP_NEO4J_CACHE"
    text = _run("config")
    assert f"file {path}:2" in text.stdout
    for secret in (_KEY, "secret-word", "hidden"):
        assert secret not in done.output + text.output


def test_the_cache_is_cleared(place: Path, chat_server: ChatServer) -> None:
    model = opened_model("m", chat_server.url)
    for prompt in ("Who?", "Where?", "Who?"):
        model.reply("", prompt)
    assert len(chat_server.bodies) == 2
    done = _run("config", "--clear-cache", "--json")
    assert json.loads(done.stdout)["deleted"] == 2
    assert _run("config", "--clear-cache").stdout.startswith("0 replies deleted")
    model.reply("", "Who?")
    assert len(chat_server.bodies) == 3


def test_options_default_to_the_settings(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `ask` is given without an option; its own option still comes first."""
    _write(_WHOLE)
    given: list[dict[str, Any]] = []
    for name in ("ask", "retrieve"):
        command = cli.get_command(None, name)  # type: ignore[arg-type]
        monkeypatch.setattr(command, "callback", lambda **options: given.append(options))
    assert _run("ask", "Who?").exit_code == 0
    assert _run("ask", "Who?", "--agent", "knn", "--budget", "5").exit_code == 0
    monkeypatch.setenv("KGP_NEO4J_CORPUS", "other")
    assert _run("retrieve", "questions.jsonl", "--out", "run.jsonl").exit_code == 0
    kept = [(made["corpus"], made["agent"], made["budget"]) for made in given]
    assert kept == [("mine", "tfidf", 10), ("mine", "knn", 5), ("other", "tfidf", 10)]


def test_broken_settings_end_a_command_that_needs_them_and_no_other(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write("[llm\n")
    for line in (["ask", "Who?"], ["ask", "Who?", "--corpus", "mine"], ["mindmap", "Who?"]):
        assert isinstance(_run(*line).exception, KgpError)
    for command in ("ask", "chat", "retrieve", "mindmap", "load", "config"):
        for option in ("--help", "-h"):
            done = _run(command, option)
            assert (done.exit_code, done.stdout[:6]) == (0, "Usage:"), command
    assert _run("--help").exit_code == 0
    path.unlink()
    monkeypatch.setenv("KGP_NEO4J_BUDGET", "many")
    assert isinstance(_run("ask", "Who?").exception, KgpError)
    assert _run("ask", "--help").exit_code == 0
    # Where nothing is wrong, the help shows what is configured.
    monkeypatch.setenv("KGP_NEO4J_BUDGET", "7")
    assert "default: 7" in " ".join(_run("ask", "--help").stdout.split())


def test_the_page_lists_every_setting_with_its_variable(place: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `((?:llm|ask)\.\w+)` \| `(\w+)` \|", text, re.MULTILINE)
    assert listed == [(name, configuration.variable_of(name)) for name in configuration.SETTINGS]
    (example,) = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    path = _write(example)
    values = configuration.read_configuration()
    from_file = [name for name, each in values.items() if each.where.startswith(str(path))]
    assert from_file == ["llm.model", "llm.url", "llm.context", "ask.corpus", "ask.budget"]
