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


def in_columns(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question in columns, as copies on Hugging Face have it."""
    held = {"supporting_facts": ("title", "sent_id"), "context": ("title", "sentences")}
    columns = {
        part: dict(zip(names, map(list, zip(*question[part], strict=True)), strict=True))
        for part, names in held.items()
    }
    return {**question, **columns}
