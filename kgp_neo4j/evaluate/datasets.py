"""Open the data sets of an evaluation: questions with their gold, and their corpora."""

from dataclasses import dataclass
from pathlib import Path

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.ids import text_hash
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.split import DEFAULT_SIZE
from kgp_neo4j.corpus.load.stored import language_of
from kgp_neo4j.corpus.load.write import batches, write
from kgp_neo4j.demo import DOCUMENTS, SETTINGS, prepare
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.environment.job import bar
from kgp_neo4j.evaluate.questions import GoldQuestion, draw, read_gold
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.settings import TraversalSettings

#: The data set that comes along: 40 questions over the demo's documents.
DEMO = "demo"
_ENDS = (".jsonl.gz", ".jsonl", ".json.gz", ".json")


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions and the corpus that holds their passages.

    `made_of` says what the corpus is made of: `corpus_file`, the documents beside the questions'
    `file` that they name (each a corpus), or their contexts; `budget` is the default one.
    """

    name: str
    questions: tuple[GoldQuestion, ...]
    corpus: str
    made_of: str
    file: Path
    corpus_file: Path | None = None
    budget: int = TraversalSettings().budget

    def corpus_of(self, document: str) -> str:
        """Return the name of the corpus that questions which name this document are asked over."""
        return f"{self.corpus}-{document}" if document else self.corpus

    def prepare_all(self, database: Database, *, mdr: bool = False) -> None:
        """Load and connect every corpus, as far as that is not done; with `mdr` by MDR too."""
        documents = dict.fromkeys(asked.document for asked in self.questions)
        with bar("corpora", len(documents)) as shown:
            for document in documents:
                corpus = self.corpus_of(document)
                if self.name == DEMO:
                    prepare(database, corpus)
                else:
                    self._load(database, corpus, document)
                    connect(database, corpus)
                if mdr:
                    connect(database, corpus, edges=["knn-mdr"])
                shown.update()

    def _load(self, database: Database, corpus: str, document: str) -> None:
        # A fact may be a whole passage: then nothing is split.
        parts = any(fact.part for asked in self.questions for fact in asked.facts)
        size = DEFAULT_SIZE if parts else None
        if file := self.corpus_file or (self.file.with_name(document) if document else None):
            load(database, [str(file)], corpus, passage_size=size, strict=True)
            return
        source = self.file.name.split(".")[0]
        contexts = dict.fromkeys(each for asked in self.questions for each in asked.contexts)
        documents = [
            SourceDocument(title, text, source, f"{title} {text_hash(text)}", whole=size is None)
            for title, text in contexts
        ]
        language = language_of(database, corpus, None, documents)
        for batch in batches(corpus, documents):
            write(database, corpus, batch, size, language)


def open_dataset(name: str, *, split: str, sample: int | None, seed: int) -> Dataset:
    """Open `demo`, a folder with a corpus and questions, or a published file of questions.

    A folder has `corpus.jsonl` (or .json) and `SPLIT.jsonl`, both also as .gz: one large corpus for
    all questions. Of a published file, the contexts of the questions that are drawn make the
    corpus, as in KGP's paper; PDFs that questions name are a corpus each. `seed` draws a `sample`.
    """
    if name == DEMO:
        file = DOCUMENTS.with_name("questions.jsonl")
        drawn, made_of = tuple(draw(read_gold(file), sample, seed)), "the demo's documents"
        return Dataset(DEMO, drawn, "evaluate-demo", made_of, file, budget=SETTINGS.budget)
    path = expanded(name)
    if path.is_file():
        return _from_contexts(path, sample, seed)
    corpus_file, questions = (
        next((file for end in _ENDS if (file := path / f"{stem}{end}").is_file()), None)
        for stem in ("corpus", split)
    )
    if questions is None:
        hint = f"Give {DEMO}, a folder with corpus.jsonl.gz and {split}.jsonl.gz, or a file."
        lacks = f"the folder has no {split}.jsonl.gz" if path.exists() else ""
        raise InputError(lacks or "there is no such data set", where=name, hint=hint)
    if corpus_file is None:
        return _from_contexts(questions, sample, seed)
    drawn, folder = tuple(draw(read_gold(questions), sample, seed)), path.resolve().name
    made_of = "one corpus for all questions"
    return Dataset(
        f"{folder} {split}", drawn, f"evaluate-{folder}", made_of, questions, corpus_file
    )


def _from_contexts(path: Path, sample: int | None, seed: int) -> Dataset:
    every = read_gold(path)
    if every[0].document:
        every = [asked for asked in every if path.with_name(asked.document).is_file()]
        if not every:
            problem = "none of the documents that the questions name is there"
            hint = "Put the PDFs beside the questions, under the names of their addresses."
            raise InputError(problem, where=str(path.parent), hint=hint)
    drawn = tuple(draw(every, sample, seed))
    if not any(asked.contexts or asked.document for asked in drawn):
        problem = "the questions have no contexts to make a corpus of"
        hint = "Give a folder with corpus.jsonl.gz beside the questions."
        raise InputError(problem, where=str(path), hint=hint)
    made_of = "one corpus for each document"
    if not drawn[0].document:
        facts = [(asked, fact) for asked in drawn for fact in asked.facts]
        lost = sum(not any(fact.is_in(*held) for held in asked.contexts) for asked, fact in facts)
        without = f" ({lost} of {len(facts)} supporting facts are not in them)" if lost else ""
        made_of = f"the contexts of these questions{without}"
    stem = path.name.split(".")[0]
    # Of other files and other questions the corpus has another name.
    ids = [asked.id for asked in drawn if not asked.document]
    mark = text_hash("\n".join((str(path.resolve()), *ids)))[:8]
    name = f"{path.resolve().parent.name} {stem}"
    return Dataset(name, drawn, f"evaluate-{stem}-{mark}", made_of, path)
