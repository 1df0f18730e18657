"""Backups of the embedded database: written, restored, refused, and cut off in the middle."""

from __future__ import annotations

import json
import os
import stat
import sys
import zipfile
from pathlib import Path

import pytest
from commands import kgp

from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.server import supervise as server
from kgp_neo4j.graphdb.server.backups import pack, put_in_place, settle, unpack
from kgp_neo4j.types.errors import ServerError


def _home(folder: Path, content: str) -> Path:
    """Make a home with files where a database has its own."""
    for name in ("data/databases/neo4j/store", "data/dbms/auth"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(content * 1000)
    (folder / "password").write_text(f"{content}\n")
    return folder


def _content(home: Path) -> set[str]:
    return {
        p.read_text()[:3] for p in (*(home / "data").rglob("*"), home / "password") if p.is_file()
    }


def test_restoring_puts_everything_back_or_nothing(tmp_path: Path) -> None:
    home = _home(tmp_path / "home", "old")
    file = tmp_path / "file.backup"
    made = pack(home, file, "5.26.30", overwrite=False)
    assert (made.files, made.neo4j) == (2, "5.26.30")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(ServerError, match="exists"):
        pack(home, file, "5.26.30", overwrite=False)
    other = _home(tmp_path / "other", "new")
    unpack(other, file, "5.26.30")
    assert _content(other) == {"new"}

    def fail() -> None:
        assert _content(other) == {"old"}
        raise ServerError("it does not start")

    with pytest.raises(ServerError, match="does not start"):
        put_in_place(other, fail)
    assert _content(other) == {"new"}
    unpack(other, file, "5.26.31")
    put_in_place(other, lambda: None)
    assert _content(other) == {"old"}
    assert sorted(p.name for p in other.iterdir()) == ["data", "password"]


def _killed_at(step: int, home: Path) -> bool:
    """Put a backup in place in a process that ends at its nth change of a name; whether it did."""
    pid = os.fork()
    if not pid:
        left = [step]

        def end(event: str, _: object) -> None:
            if event in ("os.rename", "os.remove"):
                left[0] -= 1
                if left[0] < 0:
                    os._exit(9)

        sys.addaudithook(end)
        put_in_place(home, lambda: None)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9


def test_a_restore_killed_anywhere_leaves_one_whole_database(tmp_path: Path) -> None:
    """Killed at each of its steps that changes a name, it is settled at the next start."""
    source = _home(tmp_path / "source", "old")
    file = tmp_path / "file.backup"
    pack(source, file, "5.26.30", overwrite=False)
    ends = set()
    for step in range(12):
        home = _home(tmp_path / f"home {step}", "new")
        unpack(home, file, "5.26.30")
        killed = _killed_at(step, home)
        settle(home)
        (whole,) = _content(home)
        ends.add((killed, whole))
        assert (home / "data" / "databases" / "neo4j" / "store").exists()
    assert ends == {(True, "new"), (True, "old"), (False, "old")}


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    home = _home(tmp_path / "home", "old")
    file = tmp_path / "file.backup"
    pack(home, file, "5.26.30", overwrite=False)
    with pytest.raises(ServerError, match="newer release"):
        unpack(home, file, "5.26.9")
    good = file.read_bytes()
    bad = tmp_path / "bad.backup"
    for at in range(40, len(good), 97):
        bad.write_bytes(good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :])
        try:
            unpack(home, bad, "5.26.30")
        except ServerError:
            continue
        assert (home / "data.restored" / "dbms" / "auth").read_text()[:3] == "old"
    for cut in (0, 100, len(good) - 1):
        bad.write_bytes(good[:cut])
        with pytest.raises(ServerError, match="damaged"):
            unpack(home, bad, "5.26.30")
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(parts["manifest.json"])
    evil = {"bytes": 1, "sha256": manifest["files"]["data/dbms/auth"]["sha256"]}
    for name in ("data/../../evil", "/etc/evil", "password/x"):
        manifest["files"] = {name: evil}
        with zipfile.ZipFile(bad, "w") as archive:
            archive.writestr("password", "x")
            archive.writestr(name, "x")
            archive.writestr("manifest.json", json.dumps(manifest))
        with pytest.raises(ServerError, match="damaged"):
            unpack(home, bad, "5.26.30")
    assert not (tmp_path / "evil").exists()
    assert _content(home) == {"old"}


@pytest.mark.slow
def test_the_commands_on_a_real_database(tmp_path: Path) -> None:
    folders = Folders.from_environment(tmp_path / "home")
    variables = {"KGP_NEO4J_HOME": str(folders.home), "KGP_NEO4J_CACHE": str(folders.cache)}
    text, file = tmp_path / "a.txt", tmp_path / "day.backup"
    text.write_text("One text.")
    try:
        for command in (
            ("load", str(text), "--corpus", "kept"),
            ("server", "backup", str(file)),
            ("delete", "--corpus", "kept", "--yes"),
            ("server", "restore", str(file), "--yes"),
        ):
            done = kgp(*command, **variables)
            assert done.returncode == 0, done.stderr
        listed = json.loads(kgp("corpora", "--json", **variables).stdout)
        assert [corpus["name"] for corpus in listed] == ["kept"]
        assert kgp("server", "restore", str(file), **variables).returncode == 2
        file.write_bytes(file.read_bytes()[:-10])
        refused = kgp("server", "restore", str(file), "--yes", **variables)
        assert "damaged" in refused.stderr
        assert server.status(folders).running
    finally:
        server.stop(folders)
