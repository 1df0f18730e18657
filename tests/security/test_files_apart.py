"""Files that hang, grow or crash what reads them end as a line of the account, and nothing else."""

import subprocess
import sys
import threading
import time
import zipfile
from io import BytesIO
from pathlib import Path

import docx
import psutil
import pytest
from commands import output
from graphs import write_file
from small_pdfs import ENDLESS, written_pages

from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import list_documents
from kgp_neo4j.environment.apart import Limits, Workers, file_limits
from kgp_neo4j.environment.job import Job, Progress, working
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.graphs import load_graph
from kgp_neo4j.types.errors import ConfigurationError, CorpusError, InputError, StoppedError

_WIDE = Limits(60, 60, 1 << 30)


@pytest.fixture(scope="module")
def workers() -> Workers:
    return Workers("misbehaving", most=2)


@pytest.mark.parametrize(
    ("name", "limits", "told"),
    [
        ("spin", Limits(0.5, 60, 1 << 30), "processor time for a part.* with KGP_NEO4J_FILE_SEC"),
        ("count", Limits(60, 0.5, 1 << 30), "processor time in all.* with KGP_NEO4J_FILE_SECONDS"),
        ("wait", Limits(0.2, 60, 1 << 30), "processor time"),
        ("grow", Limits(60, 60, 100 << 20), "100 MB of memory.* with KGP_NEO4J_FILE_MEMORY"),
        ("crash", _WIDE, "the process that read it ended .SIGSEGV"),
        ("leave", _WIDE, "the process that read it ended .code 3"),
        ("babble", _WIDE, "the process that read it ended"),
    ],
)
def test_a_call_that_goes_wrong_is_ended(
    workers: Workers, name: str, limits: Limits, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        list(workers.items(int, limits, Progress(), name))
    assert workers.result(str, _WIDE, "say", "still here") == "still here"


def test_what_is_given_comes_in_order_and_the_worker_stays(workers: Workers) -> None:
    kept = workers.result(int, _WIDE, "own_id")
    given = list(workers.items(int, _WIDE, Progress(), "parts", 100))
    assert [each for each in given if isinstance(each, int)] == [n for n in range(100) if n % 3 < 2]
    assert str(given[2]) == "here: no 2. Go on."
    with pytest.raises(CorpusError, match="there: not here"):
        workers.result(int, _WIDE, "refuse")
    with pytest.raises(RuntimeError, match="what"):
        workers.result(int, _WIDE, "fail")
    assert workers.result(int, _WIDE, "own_id") == kept
    for number in range(2_000):
        assert workers.result(str, _WIDE, "say", str(number)) == str(number)
    assert workers.result(int, _WIDE, "own_id") == kept
    # What nobody reads to its end is not read on.
    for _ in workers.items(int, _WIDE, Progress(), "count"):
        break
    assert workers.result(int, _WIDE, "own_id") != kept
    assert not psutil.pid_exists(kept)


def test_who_gives_up_waits_no_longer(workers: Workers) -> None:
    with working(Job(0.5)), pytest.raises(StoppedError):
        workers.result(int, _WIDE, "wait")
    job = Job()
    threading.Timer(0.5, job.give_up).start()
    with working(job), pytest.raises(StoppedError):
        workers.result(int, _WIDE, "wait")


def test_calls_do_not_wait_for_each_other(workers: Workers) -> None:
    job, ended = Job(), []

    def wait() -> None:
        with working(job), pytest.raises(StoppedError):
            workers.result(int, _WIDE, "wait")
        ended.append(True)

    beside = threading.Thread(target=wait)
    beside.start()
    assert workers.result(str, _WIDE, "say", "ferry") == "ferry"
    assert not ended
    job.give_up()
    beside.join()
    assert ended


def test_a_worker_has_no_password_of_a_database(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "hunter2")
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2")
    monkeypatch.setenv("KGP_NEO4J_PDF_PASSWORD", "sesame")
    names = workers.result(list[str], _WIDE, "variables")
    assert "KGP_NEO4J_PDF_PASSWORD" in names
    assert not [name for name in names if name.startswith(("NEO4J_", "OPENAI_"))]


def test_limits_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = (write_file(tmp_path / f"{n}.txt", "x" * n) for n in (1, 1_000_000))
    monkeypatch.setenv("KGP_NEO4J_FILE_SECONDS", "5")
    monkeypatch.setenv("KGP_NEO4J_FILE_MEMORY", "100")
    assert file_limits(small).seconds < 6 < 20 < file_limits(large).seconds
    assert 100 << 20 < file_limits(small).memory < file_limits(large).memory
    monkeypatch.setenv("KGP_NEO4J_FILE_SECONDS", "soon")
    with pytest.raises(ConfigurationError, match="KGP_NEO4J_FILE_SECONDS is 'soon'"):
        file_limits(small)


_SCRIPT = """
from kgp_neo4j.environment.apart import Limits, Workers
from kgp_neo4j.environment.job import Progress
for number in Workers("misbehaving").items(
    int, Limits(600, 600, 1 << 30), Progress(), "spin"
):
    print(number, flush=True)
"""


@pytest.mark.parametrize("way", ["kill", "terminate"])
def test_a_worker_ends_with_who_called_it(tmp_path: Path, way: str) -> None:
    """The script has no guard, which multiprocessing would need."""
    script = write_file(tmp_path / "script.py", f"import sys\nsys.path[:] = {sys.path}\n{_SCRIPT}")
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    worker = psutil.Process(int(process.stdout.readline()))
    getattr(process, way)()
    process.wait()
    psutil.wait_procs([worker], timeout=60)
    assert not worker.is_running()
    assert process.stdout.read() == ""
    process.stdout.close()


def test_what_lies_in_the_folder_is_not_imported(tmp_path: Path) -> None:
    write_file(tmp_path / "msgspec.py", "open('ran', 'w')")
    write_file(tmp_path / "a.txt", "The ferry sank.")
    script = """
from pathlib import Path
from kgp_neo4j.corpus.load.loading import _readings
from kgp_neo4j.environment.job import Progress
print([reading.text for reading in _readings(Path("a.txt").absolute(), Progress())])
"""
    assert "The ferry sank." in output(sys.executable, "-P", "-c", script, cwd=tmp_path)
    assert not (tmp_path / "ran").exists()


def _many_paragraphs(count: int) -> bytes:
    """A Word file of many paragraphs, packed to a thousandth."""
    made, packed = BytesIO(), BytesIO()
    docx.Document().save(made)
    with (
        zipfile.ZipFile(made) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new,
    ):
        for name in old.namelist():
            data = old.read(name)
            paragraphs = b"<w:body>" + b"<w:p><w:r><w:t>x</w:t></w:r></w:p>" * count
            new.writestr(name, data.replace(b"<w:body>", paragraphs))
    return packed.getvalue()


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder of hostile files with good ones among them."""
    folder = tmp_path / "documents"
    dashed = b"[0.0001 0.0001] 0 d 0.1 w " + b"0 0 m 99 800 600 0 612 900 c S " * 90
    for name, data in {
        "a.txt": "The ferry sank.",
        "b.pdf": written_pages(ENDLESS),
        "c.pdf": written_pages(dashed),
        "d.md": "# Sund\n\nThe mill at Sund burnt down.",
        "e.html": "<!--" * 250_000,
        "f.docx": _many_paragraphs(400_000),
        "g.csv": "Town,Boats\nSund,12\n",
    }.items():
        write_file(folder / name, data)
    return folder


def test_good_files_are_loaded_beside_hostile_ones(
    database: Database, corpus: str, hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hostile / "e.html").unlink()
    monkeypatch.setenv("KGP_NEO4J_FILE_SECONDS", "3")
    monkeypatch.setenv("KGP_NEO4J_FILE_MEMORY", "100")
    began = time.process_time()
    report = load(database, [hostile], corpus)
    assert time.process_time() - began < 5  # of this process's own
    loaded = {Path(each.source).name for each in list_documents(database, corpus)}
    assert {"a.txt", "d.md", "g.csv"} <= loaded
    errors = {name: line for line in report.errors for name in ("b.pdf", "f.docx") if name in line}
    assert "KGP_NEO4J_FILE_SECONDS" in errors["b.pdf"]
    assert "KGP_NEO4J_FILE_" in errors["f.docx"]


def test_a_load_that_nobody_waits_for_ends(database: Database, corpus: str, hostile: Path) -> None:
    job = Job()
    threading.Timer(1.0, job.give_up).start()
    began = time.process_time()
    with working(job), pytest.raises(StoppedError):
        load(database, [hostile / "e.html", hostile / "b.pdf"], corpus)
    assert time.process_time() - began < 5


def test_triples_are_loaded_beside_a_hostile_table(
    database: Database, graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGP_NEO4J_FILE_SECONDS", "2")
    mapping = '"name"\nnoise = ["(a|a)+$"]\n[[columns]]\ncolumn = "is"\nrelation = "is"\n'
    mapped = write_file(tmp_path / "mapping.toml", f"name = {mapping}")
    good = write_file(tmp_path / "a.csv", "name,is\nHesk,a town\n")
    bad = write_file(tmp_path / "b.csv", f"name,is\n{'a' * 60}b,a town\n")
    with pytest.raises(InputError, match=r"b\.csv: it takes .*Nothing was written"):
        load_graph(database, [good, bad], graph, mapping=mapped, embed=False)
    report = load_graph(database, [good, bad], graph, mapping=mapped, embed=False, keep_going=True)
    assert (report.new, len(report.errors)) == (1, 1)
