"""What the answers of all forms share: their making, their merging, and how they read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from kgp_neo4j.structure.asked import Asked
from kgp_neo4j.structure.outline import DocumentOutline, Library, TableOutline
from kgp_neo4j.structure.references import References
from kgp_neo4j.structure.resolving import Resolved
from kgp_neo4j.structures import Citation, StructuralAnswer

__all__ = ["Context", "answer", "each", "joined", "nothing", "plural", "table_of"]

T = TypeVar("T")
#: Documents answered for one after another where a question names none.
MOST_DOCUMENTS = 10


@dataclass(slots=True)
class Context:
    """A question on its way: what it refers to, what that is, and what is asked of it."""

    library: Library
    made: References
    found: Resolved
    asked: Asked

    @property
    def one(self) -> DocumentOutline | None:
        """The document that is meant, if it is one alone."""
        return self.found.documents[0] if len(self.found.documents) == 1 else None


def answer(
    text: str,
    values: Sequence[object] = (),
    citations: Sequence[Citation] = (),
    *,
    reading: str = "",
    markdown: str = "",
) -> StructuralAnswer:
    """Return a sure answer."""
    return StructuralAnswer(
        text=text,
        values=tuple(str(value) for value in values),
        citations=tuple(citations),
        reading=reading,
        markdown=markdown,
    )


def nothing(text: str, *, reading: str = "") -> StructuralAnswer:
    """Return the answer that what is asked for does not exist."""
    return StructuralAnswer(text=text, found=False, reading=reading)


def each(
    context: Context, items: Sequence[T], make: Callable[[T], StructuralAnswer]
) -> StructuralAnswer:
    """Answer for each of several documents, pages or tables, one after another.

    Where no document was named and many fit, nothing is claimed and the doubt says so.
    """
    if len(items) > MOST_DOCUMENTS and not context.found.named:
        return StructuralAnswer(
            text="",
            sure=False,
            confidence=0.0,
            doubt=f"{len(items)} documents fit; name the one that is meant",
        )
    parts = [make(item) for item in items]
    parts = [part for part in parts if part.found] or parts
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        text="\n".join(part.text for part in parts if part.text),
        values=tuple(value for part in parts for value in part.values),
        sure=all(part.sure for part in parts),
        found=any(part.found for part in parts),
        doubt="; ".join(part.doubt for part in parts if part.doubt),
        confidence=min(part.confidence for part in parts),
        citations=tuple(citation for part in parts for citation in part.citations),
        markdown="\n\n".join(part.markdown for part in parts if part.markdown),
    )


def plural(count: int, noun: str) -> str:
    """Return "1 table", "2 tables", "2 entries"."""
    many = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"


def joined(items: Sequence[object], last: str = "and") -> str:
    """Return "a", "a and b", "a, b and c"."""
    texts = [str(item) for item in items]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def table_of(context: Context, table: TableOutline) -> str:
    """Return "Table 2-1 of Row permissions"."""
    return f"{table.name} of {context.library.document(table.document).title}"
