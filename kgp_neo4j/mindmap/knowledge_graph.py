"""The Python API of knowledge graphs in one class: loaded, explored and asked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from kgp_neo4j.graphdb.database import Store
from kgp_neo4j.llm.chat import find_model, writer
from kgp_neo4j.mindmap.answer.ask_graph import as_question, ask_graph
from kgp_neo4j.mindmap.explore.mining import mine
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.load.graphs import (
    LoadOptions,
    delete_graph,
    export_graph,
    import_graph,
    load_graph,
    open_graph,
)
from kgp_neo4j.types.corpus import LanguageModel, Transfer
from kgp_neo4j.types.mindmap import GraphLoadReport, LinkedEntity, MindMap, ReasoningGraph
from kgp_neo4j.types.settings import LinkSettings, MiningSettings


class KnowledgeGraph(Store):
    """A named knowledge graph in Neo4j; opens the database itself, when it is first needed.

    >>> with KnowledgeGraph("medical") as graph:
    ...     graph.load(["triples.tsv"])
    ...     print(graph.ask("I feel tired and dizzy. What can it be?").text)
    """

    def load(
        self,
        paths: Sequence[str | Path],
        *,
        mapping: str | Path | None = None,
        **options: Unpack[LoadOptions],
    ) -> GraphLoadReport:
        """Load files of triples, or tables with a `mapping` file.

        `types` gives the types of a relation's head and tail, `encoder` the model of the
        embeddings (`embed=False`: none); with `keep_going` bad lines are listed in the report.
        """
        return load_graph(self.database, paths, self.name, mapping=mapping, **options)

    def link(self, question: str, settings: LinkSettings | None = None) -> list[LinkedEntity]:
        """Return the entities that a question names, with alternatives."""
        return link(open_graph(self.database, self.name), question, settings)

    def mine(self, question: str, settings: MiningSettings | None = None) -> ReasoningGraph:
        """Return the reasoning graph of a question, without an answer (MindMap, steps I and II)."""
        return mine(open_graph(self.database, self.name), question, settings)

    def ask(
        self,
        question: str | Sequence[str],
        *,
        settings: MiningSettings | None = None,
        model: LanguageModel | str | None = None,
    ) -> MindMap:
        """Answer a question, or the turns of a dialogue, with a mind map that was checked.

        `model`, a language model or the name of one, extracts the entities and answers, in one call
        each; without it the answer is composed from the graph alone.
        """
        opened = find_model(model)
        write = writer(opened) if opened is not None else None
        asked = question if isinstance(question, str) else as_question(question)
        return ask_graph(self.database, self.name, asked, settings=settings, write=write)

    def export(self, path: str | Path, *, overwrite: bool = False) -> Transfer:
        """Write the graph into one file, which is there whole or not at all."""
        return export_graph(self.database, self.name, path, overwrite=overwrite)

    def import_(self, path: str | Path, *, replace: bool = False) -> Transfer:
        """Import a file of `export` as this graph; with `replace`, in place of what it has."""
        return import_graph(self.database, path, name=self.name, replace=replace)

    def delete(self) -> None:
        """Delete the graph with its entities and relationships."""
        delete_graph(self.database, self.name)
