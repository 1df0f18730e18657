"""A first load through files: the graph of `load`, whatever is killed, and only into nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from small_pdfs import RULED, Page, pdf, prose

from kgp_neo4j.corpus.load import import_files
from kgp_neo4j.corpus.load.bulk import load_in_bulk, write_import_files
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.portable import CORPUS
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb import server
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.install import open_database
from kgp_neo4j.graphdb.portable import content
from kgp_neo4j.graphdb.server.backups import is_restoring
from kgp_neo4j.graphdb.statements import fingerprint
from kgp_neo4j.types.errors import DatabaseError, InputError

_RECORDS = 600


def _paged(page: Page) -> None:
    page.text(72, 72, 400, prose(120))
    page.table(72, 400, [["Year", "Ships"], ["1901", "12"], ["1902", "-3.5 %"]], [80, 80], RULED)


def _documents(folder: Path) -> Path:
    """Write documents of several kinds, with what a file of separated values could spoil."""
    folder.mkdir()
    rows = [
        {"title": f"Record {n}", "text": f'He said "no, {n}"; \\ then\r\nleft.\tÜber 東京 {n}.'}
        for n in range(_RECORDS)
    ]
    rows += [{"title": "Record 1", "text": " \n leading, and a trailing space \n "}, {"text": "x"}]
    (folder / "records.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "guide.md").write_text(
        "# Guide\n\nFirst words.\n\n## Part \"one\"\n\n" + "A sentence, of some length. " * 90
        + "\n\n| Name | Height; m |\n| --- | --- |\n| East \"End\" | 12.50 |\n|  | 1e3 |\n\n"
        "### Deeper\n\nMore.\n", encoding="utf-8",
    )  # fmt: skip
    (folder / "ships.csv").write_text('Year,Ships,Place\n1901,,East\n1902,12,"a\nb"\n')
    (folder / "paper.pdf").write_bytes(pdf(_paged, _paged))
    (folder / "bad.html").write_bytes(b"\xff\xfe\xff")
    return folder


def _files(folder: Path) -> dict[str, str]:
    """Return the files of an import by name, without their times."""
    return {
        path.name: re.sub(r"\d{4}-\d\d-\d\dT[\d:]{8}Z", "T", path.read_text(encoding="utf-8"))
        for path in folder.iterdir()
        if path.suffix in (".csv", ".sh")
    }


def _lines(database: Database, corpus: str) -> list[tuple[str, bytes]]:
    """Return the content of a corpus, without the times at which it was loaded."""
    lines = []
    for member, line in content(database, CORPUS, corpus):
        value = json.loads(line)
        if isinstance(value, dict):
            value.pop("t", None)
        lines.append((member, json.dumps(value, sort_keys=True).encode()))
    return lines


def test_files_that_were_cut_off_are_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = _documents(tmp_path / "documents")
    monkeypatch.setattr(import_files, "_EVERY", 0.0)
    monkeypatch.setattr("kgp_neo4j.corpus.load.write._DOCUMENTS", 100)
    whole, _ = write_import_files(tmp_path / "whole", [source], "a", keep_going=True)
    assert whole.documents == _RECORDS + 4
    assert len(whole.errors) == 2
    for step in (2, 5, 7):
        folder = tmp_path / f"cut {step}"
        pid = os.fork()
        if not pid:
            left = [step]
            add = import_files.ImportFiles.add

            def killed(
                self: import_files.ImportFiles,
                *given: object,
                left: list[int] = left,
                add: Any = add,
            ) -> None:
                left[0] -= 1
                if not left[0]:
                    with (self._folder / "Passage.csv").open("a") as file:
                        file.write('77,"half a li')
                    os._exit(9)
                add(self, *given)

            import_files.ImportFiles.add = killed  # type: ignore[method-assign]
            write_import_files(folder, [source], "a", keep_going=True)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
        again, command = write_import_files(folder, [source], "a", keep_going=True)
        assert replace(again, seconds=0) == replace(whole, seconds=0)
        assert _files(folder) == _files(tmp_path / "whole")
        assert command.startswith("neo4j-admin database import full neo4j ")
    # Other options begin anew; a folder of other files is refused; so is a bad file.
    other, _ = write_import_files(folder, [source], "b", keep_going=True)
    assert (other.corpus, other.documents) == ("b", whole.documents)
    with pytest.raises(InputError, match="Nothing is loaded yet"):
        write_import_files(tmp_path / "bad", [source], "a")
    with pytest.raises(InputError, match="other files"):
        write_import_files(source, [source], "a")


@pytest.mark.slow
def test_the_graph_is_that_of_a_load(
    database: Database, corpus: str, folders: Folders, tmp_path: Path
) -> None:
    source = _documents(tmp_path / "documents")
    expected = load(database, [source], corpus, keep_going=True)
    own = Folders(folders.cache, tmp_path / "home")
    run = "from kgp_neo4j.cli import main; main()"
    command = [sys.executable, "-c", run, "load", str(source), "--corpus", corpus]
    hidden = {name for name in os.environ if name.startswith("NEO4J_")}

    def importing() -> bool:
        option = f"@{own.home / 'run' / 'admin.args'}"
        return (own.home / "data.restored" / "databases" / "neo4j").exists() and any(
            option in (each.info["cmdline"] or ()) for each in psutil.process_iter(["cmdline"])
        )

    try:
        # Killed while Neo4j imports, and once that is done but not proven.
        for begun in (importing, lambda: is_restoring(own.home)):
            process = subprocess.Popen(
                [*command, "--keep-going", "--bulk"],
                env={n: v for n, v in os.environ.items() if n not in hidden}
                | {"KGP_NEO4J_HOME": str(own.home), "KGP_NEO4J_CACHE": str(own.cache)},
                stderr=subprocess.DEVNULL,
            )
            while not begun():
                assert process.poll() is None
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
            process.wait()
        made = load_in_bulk([source], corpus, keep_going=True, folders=own, echo=print)
        assert replace(made, seconds=0) == replace(expected, seconds=0)
        with open_database(own) as other:
            assert _lines(other, corpus) == _lines(database, corpus)
            roots = [d.read("transfer/root", name=corpus, kind="Corpus")[0]["properties"]
                     for d in (other, database)]  # fmt: skip
            assert roots[0] | {"createdAt": 0} == roots[1] | {"createdAt": 0}
            assert other.read("install/state")[0]["procedures"] == fingerprint("procedures")
            assert other.read("load/shelf", corpus=corpus, large=500) == [
                {"own": True, "moving": False, "large": True}
            ]
        again = load_in_bulk([source], corpus, keep_going=True, folders=own, echo=print)
        assert (again.new, again.unchanged) == (0, expected.documents)
        with pytest.raises(DatabaseError, match="not empty"):
            load_in_bulk([source], "second", keep_going=True, folders=own, echo=print)
        assert not (own.home / "bulk").exists()
    finally:
        server.stop(own)
