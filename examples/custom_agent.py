"""Ask with an agent of your own: it says what evidence to look for after each passage.

    python examples/custom_agent.py notes/ "Who designed the bridge that replaced the ferry?"

This one looks for the words of the question that the passages so far do not have.
"""

from __future__ import annotations

import argparse
import re
import uuid
from collections.abc import Mapping, Sequence

from kgp_neo4j import Corpus, Passage, ReasoningPath
from kgp_neo4j.corpus.traverse.algorithm import NextEvidenceAgent
from kgp_neo4j.types.corpus import NextEvidence


class MissingWords(NextEvidenceAgent):
    """Look next for the words of the question that a reasoning path does not have yet."""

    name = "missing-words"
    reads_passages = True

    def begin(self, question: str) -> NextEvidence:
        """Return what the search for the first passages looks for."""
        return NextEvidence(text=question)

    def next_evidence(
        self, question: str, paths: Sequence[ReasoningPath], passages: Mapping[str, Passage]
    ) -> list[NextEvidence]:
        """Return for each path the text that its next passage should have."""
        words = re.findall(r"\w{4,}", question.casefold())
        texts = [
            " ".join(passages[step.passage].text for step in path.steps).casefold()
            for path in paths
        ]
        missing = [" ".join(word for word in words if word not in text) for text in texts]
        return [NextEvidence(text=text or question) for text in missing]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="files or folders with documents")
    parser.add_argument("question")
    arguments = parser.parse_args()

    with Corpus(f"example-{uuid.uuid4().hex[:8]}") as corpus:
        corpus.load([arguments.folder])
        corpus.connect(edges=["tfidf", "entity"])
        answer = corpus.ask(arguments.question, agent=MissingWords())
        print(answer.agent, answer.text)
        titles = {passage.id: passage.title for passage in answer.passages}
        for path in answer.paths[:3]:
            print(" -> ".join(titles.get(step.passage, step.passage) for step in path.steps))
        corpus.delete()


if __name__ == "__main__":
    main()
