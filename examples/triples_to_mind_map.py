"""Load triples of your own and answer a question with a mind map that is checked against them.

    python examples/triples_to_mind_map.py triples.tsv "I feel tired and dizzy. What can it be?"

A line of the file is head, relation and tail, separated by tabs.
"""

from __future__ import annotations

import argparse
import uuid

from kgp_neo4j import KnowledgeGraph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("triples", help="a file of triples")
    parser.add_argument("question")
    parser.add_argument("--llm", help="a model of the server that OPENAI_BASE_URL names")
    arguments = parser.parse_args()

    with KnowledgeGraph(f"example-{uuid.uuid4().hex[:8]}") as graph:
        report = graph.load([arguments.triples])
        print(f"{report.entities} entities, {report.relationships} relationships")

        mind_map = graph.ask(arguments.question, model=arguments.llm)
        print(mind_map.text)
        for edge in mind_map.edges:  # `grounded` edges are in the graph, others are the model's
            print(f"- {edge.head} --{edge.relation}--> {edge.tail} ({edge.status})")
        graph.delete()


if __name__ == "__main__":
    main()
