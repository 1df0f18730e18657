"""Run an algorithm of Graph Data Science on a corpus: its most central passages by PageRank.

pip install "kgp-neo4j[gds]"
python examples/graph_data_science.py notes/
"""

from __future__ import annotations

import argparse
import uuid

from kgp_neo4j import Corpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="files or folders with documents")
    arguments = parser.parse_args()

    with Corpus(f"example-{uuid.uuid4().hex[:8]}") as corpus:
        corpus.load([arguments.folder])
        corpus.connect(edges=["tfidf", "entity"])
        with corpus.gds(["SHARES_KEYWORD", "SHARES_ENTITY"]) as (gds, graph):
            ranks = gds.page_rank.stream(graph, relationship_weight_property="weight")
            best = ranks.nlargest(3, "score")
            nodes = gds.util.as_nodes(best["nodeId"].tolist())
            for node, score in zip(nodes, best["score"], strict=True):
                print(f"{score:.2f} {node['title']}")
        corpus.delete()


if __name__ == "__main__":
    main()
