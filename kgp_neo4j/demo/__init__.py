"""Demo: short documents on an invented group of islands in; a connected corpus out.

Each question needs two or three of the documents; the one with the answer shares hardly a word
with the question and is found by way of the others. One document is a PDF of three pages with two
tables, which questions about structure are answered from.
"""

from importlib import resources
from pathlib import Path

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import delete_document, list_documents
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.graphs import graphs, load_graph
from kgp_neo4j.types.corpus import ConnectReport, LoadReport
from kgp_neo4j.types.errors import CorpusError
from kgp_neo4j.types.settings import TraversalSettings

DOCUMENTS = Path(str(resources.files("kgp_neo4j.demo"))) / "documents"
#: The folder of triples of two small knowledge graphs, invented too.
GRAPH = Path(str(resources.files("kgp_neo4j.demo"))) / "graph"
QUESTION = "Why did the designer of the Hesk Bridge become an engineer?"
#: Further questions to try.
QUESTIONS = (
    "Which animals live in the quarry that the blocks of the Halse Breakwater came from?",
    "From whom did the designer of Ardfin Lighthouse learn her trade?",
    "Who founded the yard that built the ferry replaced by the Hesk Bridge?",
)
TABLE_QUESTION = "Which light in Table 1 has the greatest height?"
#: A question over the knowledge graph of ailments.
SYMPTOMS = "Doctor, I feel tired all the time and dizzy, and my hands are cold. What is it?"
#: One seed and a small budget: the default ones would retrieve most of so few documents, and hide
#: the path from one to the next.
SETTINGS = TraversalSettings(seeds=1, budget=8)
#: For the further questions, one of which leads over three documents: from one seed alone its last
#: one would not be among the first five passages.
SUGGESTED = TraversalSettings(seeds=2, budget=8)


def prepare(database: Database, corpus: str) -> tuple[LoadReport, ConnectReport | None]:
    """Load the demo's documents into a corpus and connect them; a second call changes nothing.

    Returns both reports, None for the second where they were connected already. Raises CorpusError
    where the corpus has documents of the user's own.
    """
    state = database.read("inspect/corpus", corpus=corpus)
    removed = _clear(database, corpus) if state else False
    account = load(database, [DOCUMENTS], corpus, strict=True)
    changed = not state or removed or account.new or account.replaced
    graphs_made = {"keywords", "entities", "similarity"}
    if changed or state[0]["unconnected"] or not graphs_made <= set(state[0]["connected"]):
        return account, connect(database, corpus)
    return account, None


def prepare_graph(database: Database, graph: str) -> None:
    """Load the demo's knowledge graph, unless one of that name exists."""
    if all(each.name != graph for each in graphs(database)):
        types = {"has_symptom": ("Disease", "Symptom")}
        load_graph(database, [GRAPH / "ailments.tsv"], graph, types=types)


def _clear(database: Database, corpus: str) -> bool:
    """Remove the demo's documents that another installation of the package loaded."""
    documents = list_documents(database, corpus)
    own = next((d for d in documents if "/kgp_neo4j/demo/documents/" not in d.source), None)
    if own:
        what = f"the corpus {corpus!r} holds documents of your own, {own.title!r} for one"
        hint = "Choose another name for the demo: kgp-neo4j demo --corpus NAME."
        raise CorpusError(what, hint=hint)
    here = {path.resolve().as_posix() for path in DOCUMENTS.iterdir()}
    old = [d.source for d in documents if d.source not in here]
    for source in old:
        delete_document(database, corpus, source)
    return bool(old)
