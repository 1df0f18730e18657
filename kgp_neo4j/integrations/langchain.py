"""A retriever for LangChain (extra `langchain`): `KgpRetriever(corpus=corpus).invoke(question)`."""

from typing import Any

from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.integrations.records import described

with needs("langchain", "this retriever"):
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field

# Not only for the type checker: pydantic looks up the fields' types when the class is made.
from kgp_neo4j.corpus.corpus import Corpus
from kgp_neo4j.text.safe import parts
from kgp_neo4j.types.settings import AgentSettings, TraversalSettings


class KgpRetriever(BaseRetriever):
    """Retrieve a corpus's passages by reasoning paths, as LangChain's documents.

    `k` is the most documents; `method`, `agent` and the settings are those of `Corpus.retrieve`. A
    document's id is the passage's; its metadata gives its place and how it was found
    (`integrations.records.described`). Asynchronous calls and those of a batch run in threads.
    """

    corpus: Corpus
    k: int = Field(default=10, ge=1)
    method: str = "kgp"
    agent: str | None = None
    settings: TraversalSettings | None = None
    agent_settings: AgentSettings | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **_: Any
    ) -> list[Document]:
        options = parts(self, "method", "agent", "settings", "agent_settings")
        result = self.corpus.retrieve(query, **options)
        documents = [
            Document(page_content=passage.text, metadata=known, id=passage.id)
            for passage, known in described(result)
        ]
        return documents[: self.k]
