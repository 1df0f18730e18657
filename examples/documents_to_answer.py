"""Load documents of your own, connect them, and ask; with a language model if you have one.

    python examples/documents_to_answer.py notes/ "Who designed the bridge?" --llm gpt-4o-mini

Without --llm the offline reader answers. The corpus is deleted at the end unless you name it.
"""

from __future__ import annotations

import argparse
import uuid

from kgp_neo4j import Corpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="files or folders with documents")
    parser.add_argument("question")
    parser.add_argument("--llm", help="a model of the server that OPENAI_BASE_URL names")
    parser.add_argument("--corpus", help="keep the corpus under this name")
    arguments = parser.parse_args()

    with Corpus(arguments.corpus or f"example-{uuid.uuid4().hex[:8]}") as corpus:
        report = corpus.load([arguments.folder])
        print(f"{report.documents} documents, {report.passages} passages")
        corpus.connect()

        answer = corpus.ask(arguments.question, model=arguments.llm)
        print(answer.text or "No answer in these documents.")
        titles = {passage.id: passage.title for passage in answer.passages}
        for statement in answer.statements:  # the sentences of a language model, each checked
            cited = ", ".join(titles[passage] for passage in statement.passages)
            print(f"- {statement.text} [{cited}]")
        for passage in answer.passages[:3]:
            print(f"{passage.score:.2f} {passage.title}: {passage.text[:60]}...")
        if arguments.corpus is None:
            corpus.delete()


if __name__ == "__main__":
    main()
