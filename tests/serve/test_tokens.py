"""The file of tokens, the names of uploaded files, and the command."""

import json
from pathlib import Path

import pytest
from commands import prints, refuses

from kgp_neo4j.serve.app import check_address, listen
from kgp_neo4j.serve.bodies import ProblemError
from kgp_neo4j.serve.documents import file_name
from kgp_neo4j.serve.tokens import Tokens, add_token
from kgp_neo4j.types.errors import ConfigurationError


def test_a_token_is_shown_once_and_kept_as_a_hash(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    line = ("serve", "token", "ann", "--tokens", str(file))
    token = prints(*line, "--corpus", "mine", "--right", "load").strip()
    assert token not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    access = Tokens(file).find(f"Bearer {token}")
    assert (access.name, access.corpora, access.rights) == ("ann", ["mine"], ["load"])
    assert not access.sees("corpus", "others")
    assert not access.sees("graph", "mine")
    for wrong in ("", token, f"Basic {token}", f"Bearer {token}x", "Bearer ", "Bearer \udce9"):
        assert Tokens(file).find(wrong) is None
    assert "already" in refuses(*line)
    assert Tokens(file).find(f"Bearer {token}") == access


def test_a_changed_file_is_read_again_and_a_wrong_one_is_not(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    ann = f"Bearer {add_token(file, 'ann')}"
    tokens = Tokens(file)
    ben = f"Bearer {add_token(file, 'ben')}"
    assert tokens.find(ben) is not None
    good = file.read_text()
    for wrong in ("{", '{"tokens": [1]}'):
        file.write_text(wrong)
        assert tokens.find(ann) is not None
    file.unlink()
    assert tokens.find(ann) is None
    file.write_text(json.dumps({"tokens": json.loads(good)["tokens"][1:]}))
    with pytest.raises(ConfigurationError, match="others may read"):
        Tokens(file)
    assert tokens.find(ann) is not None
    file.chmod(0o600)
    assert tokens.find(ann) is None
    assert tokens.find(ben) is not None


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"127.0.0.1, port {port} .*in use"):
            listen("127.0.0.1", port)
    with pytest.raises(ConfigurationError, match="cannot listen at no host here"):
        listen("no host here", 0)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[", "Invalid JSON"),
        ('{"tokens": ["x"]}', "tokens.0"),
        ('{"tokens": [{"name": "a", "sha256": "x", "rights": ["read"]}]}', "tokens.0.sha256"),
        ({"rights": ["write"]}, "'read', 'load' or 'admin'"),
        ({"corpora": "mine"}, "tokens.0.corpora"),
        ({"corpus": ["mine"]}, "tokens.0.corpus: Extra inputs"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, content: str | dict[str, object], told: str) -> None:
    file = tmp_path / "tokens.json"
    if not isinstance(content, str):
        entry = {"name": "a", "sha256": "0" * 64, "rights": ["read"]} | content
        content = json.dumps({"tokens": [entry]})
    file.write_text(content)
    file.chmod(0o600)
    with pytest.raises(ConfigurationError, match=r".") as caught:
        Tokens(file)
    assert told in str(caught.value)


def test_others_reach_it_only_with_tokens(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.168.1.5", "example.org", ""):
        with pytest.raises(ConfigurationError, match="for this machine alone"):
            check_address(host, None)
        check_address(host, tmp_path / "tokens.json")
    for host in ("127.0.0.1", "::1", "localhost", "127.0.0.5"):
        check_address(host, None)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/report.pdf", "report.pdf"),
        ("C:\\temp\\Report 1.PDF", "Report 1.PDF"),
        ("notes*[ab]?.md.gz", "notes__ab__.md.gz"),
        (".hidden.txt", "hidden.txt"),
        ("über 年報.txt", "über 年報.txt"),
        ("a\x00b\n\u202ec.txt", "ab c.txt"),
        ("x" * 500 + ".csv", "x" * 116 + ".csv"),
    ],
)
def test_a_files_name_has_no_surprises(given: str, kept: str) -> None:
    assert file_name(given) == kept


@pytest.mark.parametrize("given", ["", "..", ".pdf", "a.exe", "a.pdf/", "a.sh\x00.exe"])
def test_a_file_of_no_known_kind_is_refused(given: str) -> None:
    with pytest.raises(ProblemError, match="no kind of file"):
        file_name(given)
