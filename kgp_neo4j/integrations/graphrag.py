"""A retriever for neo4j-graphrag (extra `graphrag`): `GraphRAG(KgpRetriever(corpus), llm)`."""

from typing import Any, Unpack

from kgp_neo4j.corpus.corpus import Corpus
from kgp_neo4j.corpus.pipeline import MethodOptions
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.graphdb.database import record
from kgp_neo4j.integrations.records import described
from kgp_neo4j.types.errors import ConfigurationError

with needs("graphrag", "this retriever"):
    from neo4j_graphrag.retrievers.base import Retriever
    from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem


class KgpRetriever(Retriever):
    """Retrieve a corpus's passages by reasoning paths, for neo4j-graphrag's `GraphRAG`.

    `method`, `agent` and the settings are those of `Corpus.retrieve`. Each item's content is the
    text for the language model; its metadata gives the passage's place and how it was found.
    """

    VERIFY_NEO4J_VERSION = False  # the corpus's database has been checked already

    def __init__(self, corpus: Corpus, **options: Unpack[MethodOptions]) -> None:
        super().__init__(corpus.database.driver, corpus.database.connection.database)
        self._corpus = corpus
        self._options = options

    def get_search_results(self, query_text: str, top_k: int = 10) -> RawSearchResult:
        """Retrieve the passages for a question, best first, at most `top_k`."""
        if top_k < 1:
            raise ConfigurationError(f"top_k is {top_k}", hint="Ask for one passage or more.")
        found = self._corpus.retrieve(query_text, **self._options)
        records = [
            record({"text": passage.text, "metadata": known}) for passage, known in described(found)
        ]
        about = {"corpus": self._corpus.name, "seconds": found.seconds}
        return RawSearchResult(records=records[:top_k], metadata=about)

    def default_record_formatter(self, record: Any) -> RetrieverResultItem:
        """Return a passage as its name and text, numbered by rank so that it can be cited."""
        known = record["metadata"]
        heading = " > ".join(filter(None, (known["name"], known["section"])))
        return RetrieverResultItem(
            content=f"[{known['rank']}] {heading}\n{record['text'].strip()}\n", metadata=known
        )
