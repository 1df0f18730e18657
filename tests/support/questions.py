"""Questions over passages, in the form in which HotpotQA comes."""

from collections.abc import Mapping, Sequence
from typing import Any


def hotpot(
    key: str, question: str, answer: str, facts: Mapping[str, int] | Sequence[str],
    context: Mapping[str, Sequence[str]], **more: object,
) -> dict[str, Any]:  # fmt: skip
    """Return a question over the sentences of titles; the facts are a title's first, or told."""
    places = facts if isinstance(facts, Mapping) else dict.fromkeys(facts, 0)
    told = {"_id": key, "question": question, "answer": answer, "type": "bridge"}
    supporting = [[title, at] for title, at in places.items()]
    listed = [[title, list(sentences)] for title, sentences in context.items()]
    return told | {"supporting_facts": supporting, "context": listed} | more
